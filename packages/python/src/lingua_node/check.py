"""`python -m lingua_node check`: connects, registers, and says what is wrong and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import socket
import ssl
from typing import Any, Callable, Dict, List, Optional, Sequence, cast

from .context import JobContext
from .errors import JobError, StartError
from .messages import JobAssign, JobOutput
from .node import Node
from .options import Timings, check_options
from .connection.refusal import HINTS
from .connection.websocket import address_of

DEFAULT_URL = "ws://127.0.0.1:5010/ws/node"

Print = Callable[[str], None]


def main(arguments: Sequence[str], write: Print = print) -> int:
    """The exit code: 0 if the scheduler accepts nodes with these settings."""
    options = _parser().parse_args(arguments)
    try:
        capabilities = _capabilities(options.capabilities)
        check_options(options.url, options.token, 1, _refuse)
        return asyncio.run(_check(options, capabilities, write))
    except (ValueError, OSError) as error:
        return _fail(write, str(error), "correct the command; --help lists its options")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lingua_node check", description=__doc__)
    parser.add_argument("--url", default=os.environ.get("LINGUA_URL", DEFAULT_URL), help="default: %(default)s")
    parser.add_argument("--token", default=os.environ.get("LINGUA_TOKEN"), help="default: LINGUA_TOKEN")
    parser.add_argument("--node-id", help="default: the scheduler assigns one")
    parser.add_argument("--capabilities", help="a JSON file with fields of node_register; default: none")
    parser.add_argument("--wait", type=float, default=5.0, help="seconds; default: %(default)s")
    return parser


def _capabilities(path: Optional[str]) -> Any:
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        found: Any = json.load(file)
    if not isinstance(found, dict):
        raise ValueError(f"{path} must contain an object with fields of node_register")
    return dict(cast(Dict[str, Any], found))


async def _refuse(_job: JobAssign, _context: JobContext) -> JobOutput:
    """The scheduler gives the job to another node, and counts no attempt."""
    raise JobError("NODE_OVERLOADED", "this node only checks its settings", {"running": 0, "max": 0})


async def _check(options: argparse.Namespace, capabilities: Any, write: Print) -> int:
    problem = await _reach(options.url, options.wait)
    if problem is not None:
        return _fail(write, *problem)
    write(f"reached     {options.url}")
    statuses: "asyncio.Queue[Any]" = asyncio.Queue()
    seen = _Warnings()
    node = Node(
        url=options.url,
        token=options.token,
        node_id=options.node_id,
        max_concurrent_jobs=1,
        capabilities=capabilities,
        on_job=_refuse,
        on_status=lambda status, reason: statuses.put_nowait((status, reason)),
        timings=Timings(register_timeout_s=options.wait),
        log=seen.log,
    )
    try:
        await asyncio.wait_for(node.start(), options.wait)
        write(f"registered  {node.node_id}")
        return await _report_status(statuses, options.wait, write)
    except StartError as error:
        return _fail(write, error.message, HINTS.get(error.code, "docs/errors.md lists the codes"))
    except asyncio.TimeoutError:
        last = f": {seen.lines[-1]}" if seen.lines else ""
        hint = "look at the log of the scheduler, and at /health/ready"
        return _fail(write, f"not registered within {options.wait:g} s{last}", hint)
    finally:
        await node.stop(0)


async def _reach(url: str, wait_s: float) -> "Optional[tuple[str, str]]":
    """What is wrong with the address, and a hint; None if a server accepts connections there."""
    host, port, is_secure = address_of(url)
    context = ssl.create_default_context() if is_secure else None
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port, ssl=context), wait_s)
        writer.close()
        return None
    except socket.gaierror:
        return f"there is no host {host}", "correct the host in --url"
    except ConnectionRefusedError:
        return (
            f"nothing listens on {host} port {port}",
            "start the scheduler, or correct --url; it listens on 127.0.0.1 port 5010 unless server.host says otherwise",
        )
    except ssl.SSLCertVerificationError as error:
        return f"the certificate is not trusted: {error.verify_message}", "set SSL_CERT_FILE to your authority's"
    except ssl.SSLError as error:
        return f"no TLS on port {port}: {error.reason}", "use ws:// if the scheduler has no server.tls"
    except asyncio.TimeoutError:
        return f"no answer from {host} port {port} within {wait_s:g} s", "look at the firewall, or raise --wait"
    except OSError as error:
        return f"cannot reach {host} port {port}: {error}", "look at the network between here and the scheduler"


async def _report_status(statuses: "asyncio.Queue[Any]", wait_s: float, write: Print) -> int:
    """The state after the first heartbeat: a node that is not ready gets no jobs."""
    try:
        while True:
            status, reason = await asyncio.wait_for(statuses.get(), wait_s)
            if status == "ready":
                write("ready       the scheduler would give jobs to a node with these settings")
                return 0
            if status not in ("registering", "offline"):
                return _fail(write, f"the node is {status}: {reason or 'no reason given'}", STATUS_HINT)
    except asyncio.TimeoutError:
        return _fail(write, f"registered, but not ready within {wait_s:g} s", STATUS_HINT)


STATUS_HINT = "GET /api/v1/nodes shows why; a machine above the thresholds of CPU, memory or GPU use gets no jobs"


def _fail(write: Print, what: str, hint: str) -> int:
    write(f"failed      {what}")
    write(f"hint        {hint}")
    return 1


class _Warnings(logging.Handler):
    """Keeps what the node logs instead of printing it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: List[str] = []
        self.log = logging.Logger("lingua_node.check")
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
