package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"gopkg.in/natefinch/lumberjack.v2"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	kaudit "k8s.io/apiserver/pkg/audit"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
	auditwebhook "k8s.io/apiserver/plugin/pkg/audit/webhook"

	"github.com/deed-project/deed/server/audit"
)

// auditOptions are the flags of the audit log, with the names and defaults of kube-apiserver. Its libraries write the log.
type auditOptions struct {
	policy string // file

	path       string // of the log; - is the standard output, and empty is none
	format     string
	file       lumberjack.Logger // how the file of the log is rotated
	webhook    string            // file in the form of a kubeconfig
	backoff    time.Duration
	ofLog      auditBackend
	ofWebhooks auditBackend
}

// auditBackend says how events reach the log or the webhook.
type auditBackend struct {
	mode       string
	version    string
	batch      buffered.BatchConfig
	truncated  bool
	truncation truncate.Config
}

// addTo defines the flags in f.
func (o *auditOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.policy, "audit-policy-file", "", "Policy of audit.k8s.io/v1 that says what the audit log has of each request; without one it has nothing")
	f.StringVar(&o.path, "audit-log-path", "", "file of the audit log; - is the standard output")
	f.StringVar(&o.format, "audit-log-format", auditlog.FormatJson, "format of the audit log: json, or legacy for a line of text an event")
	f.IntVar(&o.file.MaxAge, "audit-log-maxage", 366, "days after which old files of the audit log are removed; 0 keeps them")
	f.IntVar(&o.file.MaxBackups, "audit-log-maxbackup", 100, "number of old files of the audit log that are kept; 0 keeps all")
	f.IntVar(&o.file.MaxSize, "audit-log-maxsize", 100, "megabytes after which the audit log begins a new file; 0 begins none")
	f.BoolVar(&o.file.Compress, "audit-log-compress", false, "compress old files of the audit log")
	o.ofLog = auditBackend{mode: "blocking", batch: buffered.BatchConfig{BufferSize: 10000, MaxBatchSize: 1}}
	o.ofLog.addTo(f, "log")
	f.StringVar(&o.webhook, "audit-webhook-config-file", "", "file in the form of a kubeconfig that names a webhook to which events are sent")
	f.DurationVar(&o.backoff, "audit-webhook-initial-backoff", auditwebhook.DefaultInitialBackoffDelay, "wait before a failed call of the webhook is repeated")
	o.ofWebhooks = auditBackend{mode: "batch", batch: buffered.BatchConfig{
		BufferSize: 10000, MaxBatchSize: 400, MaxBatchWait: 30 * time.Second, ThrottleEnable: true, ThrottleQPS: 10, ThrottleBurst: 15, AsyncDelegate: true,
	}}
	o.ofWebhooks.addTo(f, "webhook")
}

// auditModes are the values of the flags about modes.
var auditModes = []string{"batch", "blocking", "blocking-strict"}

// addTo defines the flags of the backend called name in f.
func (b *auditBackend) addTo(f *pflag.FlagSet, name string) {
	flag := func(rest string) string { return "audit-" + name + "-" + rest }
	f.StringVar(&b.mode, flag("mode"), b.mode, "how events are written: "+strings.Join(auditModes, ", ")+
		". A batch is written later. Strict refuses a request whose event cannot be written")
	f.StringVar(&b.version, flag("version"), auditv1.SchemeGroupVersion.String(), "version of events")
	f.IntVar(&b.batch.BufferSize, flag("batch-buffer-size"), b.batch.BufferSize, "events that wait for a batch")
	f.IntVar(&b.batch.MaxBatchSize, flag("batch-max-size"), b.batch.MaxBatchSize, "largest number of events in a batch")
	f.DurationVar(&b.batch.MaxBatchWait, flag("batch-max-wait"), b.batch.MaxBatchWait, "longest time that an event waits for its batch")
	f.BoolVar(&b.batch.ThrottleEnable, flag("batch-throttle-enable"), b.batch.ThrottleEnable, "limit the rate of batches")
	f.Float32Var(&b.batch.ThrottleQPS, flag("batch-throttle-qps"), b.batch.ThrottleQPS, "batches in a second on average")
	f.IntVar(&b.batch.ThrottleBurst, flag("batch-throttle-burst"), b.batch.ThrottleBurst, "batches at once")
	f.BoolVar(&b.truncated, flag("truncate-enabled"), false, "leave bodies out of events that are too large")
	f.Int64Var(&b.truncation.MaxBatchSize, flag("truncate-max-batch-size"), 10<<20, "largest number of bytes in a batch")
	f.Int64Var(&b.truncation.MaxEventSize, flag("truncate-max-event-size"), 100<<10, "largest number of bytes in an event")
}

// check refuses values that the flags do not have.
func (o *auditOptions) check() error {
	if o.path != "" {
		if !slices.Contains(auditlog.AllowedFormats, o.format) {
			return fmt.Errorf("--audit-log-format: expected one of %s, got %q", strings.Join(auditlog.AllowedFormats, ", "), o.format)
		}
		for _, n := range []int{o.file.MaxAge, o.file.MaxBackups, o.file.MaxSize} {
			if n < 0 {
				return fmt.Errorf("--audit-log-maxage, -maxbackup and -maxsize cannot be negative, got %d", n)
			}
		}
		if err := o.ofLog.check("log"); err != nil {
			return err
		}
	}
	if o.webhook == "" {
		return nil
	}
	return o.ofWebhooks.check("webhook")
}

// check is auditOptions.check for the backend called name.
func (b *auditBackend) check(name string) error {
	switch throttled := b.batch.ThrottleEnable; {
	case !slices.Contains(auditModes, b.mode):
		return fmt.Errorf("--audit-%s-mode: expected one of %s, got %q", name, strings.Join(auditModes, ", "), b.mode)
	case b.version != auditv1.SchemeGroupVersion.String():
		return fmt.Errorf("--audit-%s-version: expected %s, got %q", name, auditv1.SchemeGroupVersion, b.version)
	case b.mode == "batch" && (b.batch.BufferSize <= 0 || b.batch.MaxBatchSize <= 0 || throttled && (b.batch.ThrottleQPS <= 0 || b.batch.ThrottleBurst <= 0)):
		return fmt.Errorf("the numbers of --audit-%s-batch must be positive", name)
	case b.truncation.MaxEventSize <= 0 || b.truncation.MaxBatchSize < b.truncation.MaxEventSize:
		return fmt.Errorf("--audit-%s-truncate-max-event-size must be positive, and a batch as large as an event", name)
	}
	return nil
}

// recorder returns what records requests, and a function that ends it once all requests are answered. Both do nothing without a policy. It
// warns w if the flags name a log and no policy.
func (o *auditOptions) recorder(out, w io.Writer) (*audit.Recorder, func() error, error) {
	nothing := func() error { return nil }
	if o.policy == "" {
		if name := cmp.Or(o.path, o.webhook); name != "" {
			fmt.Fprintf(w, "%s gets no events without --audit-policy-file\n", name)
		}
		return nil, nothing, nil
	}
	policy, err := os.ReadFile(o.policy)
	if err != nil {
		return nil, nothing, fmt.Errorf("--audit-policy-file: %w", err)
	}
	backend, closeFile, err := o.backend(out)
	if err != nil || backend == nil {
		return nil, nothing, err
	}
	recorder, err := audit.NewRecorder(policy, backend)
	if err != nil {
		return nil, nothing, errors.Join(fmt.Errorf("--audit-policy-file: %s: %w", o.policy, err), closeFile())
	}
	stop := make(chan struct{})
	if err := backend.Run(stop); err != nil {
		return nil, nothing, errors.Join(err, closeFile())
	}
	return recorder, func() error {
		close(stop)
		backend.Shutdown()
		return closeFile()
	}, nil
}

// backend returns the log, the webhook or both, and a function that closes the file. It returns nil if there is neither.
func (o *auditOptions) backend(out io.Writer) (backend kaudit.Backend, closeFile func() error, err error) {
	closeFile = func() error { return nil }
	if o.path != "" && o.path != "-" {
		file, err := o.open()
		if err != nil {
			return nil, nil, fmt.Errorf("--audit-log-path: %w", err)
		}
		out, closeFile = file, file.Close
	}
	var backends []kaudit.Backend
	if o.path != "" {
		backends = append(backends, o.ofLog.around(auditlog.NewBackend(out, o.format, auditv1.SchemeGroupVersion)))
	}
	if o.webhook != "" {
		webhook, err := auditwebhook.NewBackend(o.webhook, auditv1.SchemeGroupVersion, webhookutil.DefaultRetryBackoffWithInitialDelay(o.backoff), nil)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("--audit-webhook-config-file: %w", err), closeFile())
		}
		backends = append(backends, o.ofWebhooks.around(webhook))
	}
	if backends == nil {
		return nil, closeFile, nil
	}
	return kaudit.Union(backends...), closeFile, nil
}

// open opens the file of the log. A file that cannot be written is an error at once.
func (o *auditOptions) open() (io.WriteCloser, error) {
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(o.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || o.file.MaxSize == 0 {
		return file, err
	}
	o.file.Filename = o.path
	return &o.file, file.Close()
}

// around returns a backend with the mode and the truncation of b.
func (b *auditBackend) around(backend kaudit.Backend) kaudit.Backend {
	switch b.mode {
	case "batch":
		backend = buffered.NewBackend(backend, b.batch)
	case "blocking":
		backend = lenient{backend}
	}
	if b.truncated {
		backend = truncate.NewBackend(backend, b.truncation, auditv1.SchemeGroupVersion)
	}
	return backend
}

// lenient is a backend whose failures fail no request.
type lenient struct{ kaudit.Backend }

// ProcessEvents writes events, and always succeeds.
func (l lenient) ProcessEvents(events ...*auditapi.Event) bool {
	l.Backend.ProcessEvents(events...)
	return true
}
