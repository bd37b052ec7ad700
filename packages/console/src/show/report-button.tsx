/** A person reports that a translation is bad; operators see it with the job. */
import { useState } from 'preact/hooks';
import { mayTalk } from '../data/credentials.ts';
import { t } from '../texts/text.ts';
import { OrderButton } from './order-button.tsx';

interface ReportProps {
  readonly jobId: string;
  readonly isPlain?: boolean;
  readonly onDone?: () => void;
}

export function ReportButton({ jobId, isPlain = false, onDone }: ReportProps) {
  const [isReported, setReported] = useState(false);
  if (isReported)
    return (
      <span class="quiet" role="status">
        {t('report.done')}
      </span>
    );
  return (
    <OrderButton
      label={t('report.bad_translation')}
      explanation={t('report.doc')}
      path={`v1/job/${encodeURIComponent(jobId)}/report`}
      takesReason
      note={{ label: t('report.note'), toBody }}
      isAllowed={mayTalk.value}
      isPlain={isPlain}
      onDone={() => {
        setReported(true);
        onDone?.();
      }}
    />
  );
}

const toBody = (note: string): object => ({ kind: 'bad_translation', ...(note !== '' && { note }) });
