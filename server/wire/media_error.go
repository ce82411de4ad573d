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
	routed  bool // the answer of a table of routes, which names details that are empty
}

// newRouted returns the refusal of a table of routes.
func newRouted(code int32, reason metav1.StatusReason, message string) error {
	return &mediaError{code: code, reason: reason, message: message, routed: true}
}

// Error returns the message.
func (e *mediaError) Error() string { return e.message }

// Status returns what the client is told.
func (e *mediaError) Status() metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.message}
	if e.routed {
		s.Details = &metav1.StatusDetails{}
	}
	return s
}

// Unsupported refuses a body of a media type that is none of those listed: 415.
func Unsupported(types ...string) error {
	return &mediaError{
		code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
		message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(types, ", "),
	}
}

// BodyMedia returns the media type of a body, JSON if the request names none. The error is a 415 for types that the path does
// not offer; protobuf is among those that it lists in any case.
func BodyMedia(r *http.Request, o Offer) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" || header == JSON {
		return JSON, nil
	}
	typ, _, err := mime.ParseMediaType(header)
	known := typ == JSON || typ == YAML || typ == Protobuf && o.Protobuf || typ == CBOR && o.CBOR
	if err != nil || !known {
		return "", Unsupported(o.types()...)
	}
	return typ, nil
}

// PatchMedia returns the media type of a patch: what the header says up to a semicolon, to the letter. The error is a 415 for
// types other than accepted, in the words of the router if the path is one of its table.
func PatchMedia(r *http.Request, o Offer, accepted ...string) (string, error) {
	typ, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case slices.Contains(accepted, typ):
		return typ, nil
	case o.Routed:
		return "", newRouted(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
	}
	return "", Unsupported(accepted...)
}
