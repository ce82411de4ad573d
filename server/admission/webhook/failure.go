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

// What can go wrong with a hook, and who decides about it:
//
//	callError     no usable response          the failure policy: ignore it, or 500
//	denial        the hook said no            a refusal with the hook's status
//	other error   a fault in the request      a refusal, whatever the policy

// callError is a failed call: the hook was not called, or its response is unusable. The failure policy of the hook decides what follows.
//
// It wraps why, so that the cause can be found with errors.As.
type callError struct {
	hook string
	code int    // of the failure, in metrics
	step string // the step that failed, a constant text
	why  error
}

// Error returns the text of the refusal.
func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.hook, e.why)
}

// LogText returns the name of the hook and the failed step. It contains nothing of the response and no URL, because those may be secret.
func (e *callError) LogText() string {
	if cause := stderrors.Unwrap(e.why); cause != nil {
		return fmt.Sprintf("webhook %q: %s: %s", e.hook, e.step, logs.Text(cause))
	}
	return fmt.Sprintf("webhook %q: %s", e.hook, e.step)
}

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.why }

// failed returns a callError. The format must be a constant, because the log shows its text before the first verb.
func (h *Hook) failed(code int, format string, args ...any) error {
	step, _, _ := strings.Cut(format, "%")
	return &callError{h.name, code, strings.TrimRight(step, ": "), fmt.Errorf(format, args...)}
}

// denial is the refusal of a hook.
type denial struct{ *errors.StatusError }

// denied returns the refusal of a hook: its status, changed to a failure, with a message that names the hook.
//
// A code below 400 would not be a refusal.
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
	return denial{&errors.StatusError{ErrStatus: status}}
}

// callable returns why a dry run must not call a hook, or nil.
//
// A hook with side effects refuses the dry run as a whole. One that does not tell whether it has any counts as failed.
func (h *Hook) callable(dry bool) error {
	switch {
	case !dry || h.dryRun == dryRunSafe:
		return nil
	case h.dryRun == dryRunUnknown:
		return h.failed(http.StatusBadRequest, "Webhook SideEffects is nil")
	}
	return errors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
}

// outcome returns the refusal that an error of a hook causes. It returns nil if the failure policy ignores the failure and the request has
// time left.
func (h *Hook) outcome(ctx context.Context, err error) error {
	switch err := err.(type) {
	case denial:
		return err.StatusError
	case *callError:
		switch {
		case !h.failOpen:
			return errors.NewInternalError(err)
		case h.mutating && ctx.Err() != nil:
			return timedOut()
		}
		return nil
	}
	return err
}

// timedOut returns the refusal of a request whose deadline passed between hooks.
func timedOut() error {
	return errors.NewTimeoutError("request did not complete within requested timeout", 0)
}
