package wire

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mediaError refuses a request for its media types.
type mediaError struct {
	code    int32
	reason  metav1.StatusReason
	message string
}

// Error returns the message.
func (e *mediaError) Error() string { return e.message }

// Status returns what the client is told.
func (e *mediaError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.message}
}

// Unsupported refuses a body of a media type that is none of those listed: 415.
func Unsupported(types ...string) error {
	return &mediaError{
		code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
		message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(types, ", "),
	}
}

// BodyMedia returns the media type of a body, JSON if the request names none. The error is a 415 for types other than accepted.
func BodyMedia(r *http.Request, accepted ...string) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return JSON, nil
	}
	typ, _, err := mime.ParseMediaType(header)
	if err != nil || !slices.Contains(accepted, typ) {
		return "", Unsupported(JSON, YAML, Protobuf)
	}
	return typ, nil
}

// PatchMedia returns the media type of a patch: what the header says up to a semicolon, to the letter. The error is a 415 for
// types other than accepted.
func PatchMedia(r *http.Request, accepted ...string) (string, error) {
	typ, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !slices.Contains(accepted, typ) {
		return "", Unsupported(accepted...)
	}
	return typ, nil
}
