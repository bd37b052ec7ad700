#!/usr/bin/env bash
# A node of curl only: bash examples/curl-node.sh. It shows the calls; write yours in the language of your models.
# LINGUA_URL names the scheduler, LINGUA_TOKEN is a token of a node if the scheduler requires one.
set -euo pipefail
url=${LINGUA_URL:-http://127.0.0.1:5010}
id=curl-node-$$
headers=(-H 'content-type: application/json' ${LINGUA_TOKEN:+-H "authorization: Bearer $LINGUA_TOKEN"})

# Prints the body of the reply; a refusal is an error.
call() { curl -sS --fail-with-body "${headers[@]}" "$@"; }
# The first value of a field in a reply: enough for ids. Use a JSON parser for anything else.
field() { sed -E "s/.*\"$1\":\"?([^\",}]*).*/\1/"; }

profile="{\"node_id\":\"$id\",\"health\":\"ready\",\"semantic_langs\":[\"de\",\"en\",\"fr\",\"nl\"],\"max_concurrent_jobs\":1}"
call "$url/v1/node/register" -d "$profile"; echo
# Its unfinished job, if any, goes to another node at once.
trap 'call -X DELETE "$url/v1/node/$id"; echo' EXIT
trap 'exit 0' INT TERM

while :; do
  # Answered when there is a job, at the latest after two seconds.
  jobs=$(call "$url/v1/node/$id/jobs?wait_ms=2000&max=1")
  if [[ $jobs == *'"job_id"'* ]]; then
    attempt="\"job_id\":\"$(field job_id <<<"$jobs")\",\"attempt_id\":$(field attempt_id <<<"$jobs"),\"node_id\":\"$id\""
    call "$url/v1/job/ack" -d "{$attempt}"; echo
    # Here your models work on the audio, which is in the job or at the address in it.
    call "$url/v1/job/done" -d "{$attempt,\"text_asr\":\"Hello.\",\"text_translated\":\"Guten Tag.\"}"; echo
  fi
  call "$url/v1/node/heartbeat" -d "$profile" >/dev/null
done
