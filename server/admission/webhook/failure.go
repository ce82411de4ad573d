package webhook

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/logs"
)

// callError is that a hook was not asked, or gave no answer that can be used. Its failure policy says what comes of it.
type callError struct {
	hook string
	step string // what failed, as a constant
	why  error
}

// Error returns the text that a refusal has.
func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.hook, e.why)
}

// LogText returns the name of the hook, and what went wrong: nothing that the hook answered, and no URL.
func (e *callError) LogText() string {
	if cause := stderrors.Unwrap(e.why); cause != nil {
		return fmt.Sprintf("webhook %q: %s: %s", e.hook, e.step, logs.Text(cause))
	}
	return fmt.Sprintf("webhook %q: %s", e.hook, e.step)
}

// Unwrap returns what went wrong.
func (e *callError) Unwrap() error { return e.why }

// failed returns a callError for what went wrong. The format is a constant: the log shows it up to its first verb.
func (h *Hook) failed(format string, args ...any) error {
	step, _, _ := strings.Cut(format, "%")
	return &callError{h.name, strings.TrimRight(step, ": "), fmt.Errorf(format, args...)}
}

// denied returns the refusal of a hook: the status that it gives, made one of a failure, with a message that names the hook.
func (h *Hook) denied(given *metav1.Status) error {
	status := metav1.Status{}
	if given != nil {
		status = *given
	}
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	text := fmt.Sprintf("admission webhook %q denied the request", h.name)
	switch {
	case status.Message != "":
		status.Message = text + ": " + status.Message
	case status.Reason != "":
		status.Message = text + ": " + string(status.Reason)
	default:
		status.Message = text + " without explanation"
	}
	return &errors.StatusError{ErrStatus: status}
}

// callable returns why a hook is not to be asked in a dry run, nil if it is.
func (h *Hook) callable(dry bool) error {
	switch {
	case !dry || h.dryRun == dryRunSafe:
		return nil
	case h.dryRun == dryRunUnknown:
		return h.failed("Webhook SideEffects is nil")
	}
	return errors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
}

// outcome returns what an error of a hook means for the request: nil if the request goes on, because a failure to call the hook is
// to be ignored and the request has time left.
func (h *Hook) outcome(ctx context.Context, err error) error {
	failure, isCall := err.(*callError)
	switch {
	case err == nil || !isCall:
		return err
	case !h.failOpen:
		return errors.NewInternalError(failure)
	case h.mutating && ctx.Err() != nil:
		return timedOut()
	}
	return nil
}

func timedOut() error {
	return errors.NewTimeoutError("request did not complete within requested timeout", 0)
}
