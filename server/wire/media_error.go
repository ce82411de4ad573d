package wire

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refusals of media types. kube-apiserver refuses in two places, with different words. Its router knows which types a path reads and
// writes. Its handlers decide about what the router lets pass. Offer.Routed tells which paths have the router in front.

// mediaError is a refusal of the media types of a request.
type mediaError struct {
	code    int32
	reason  metav1.StatusReason
	message string
	routed  bool // written by the router, which sends empty details
}

// newRouted returns a refusal in the words of kube-apiserver's router.
func newRouted(code int32, reason metav1.StatusReason, message string) error {
	return &mediaError{code: code, reason: reason, message: message, routed: true}
}

// IsRouted reports whether err is a refusal of kube-apiserver's router, behind which no handler has seen the request.
func IsRouted(err error) bool {
	var e *mediaError
	return errors.As(err, &e) && e.routed
}

// Error returns the message.
func (e *mediaError) Error() string { return e.message }

// Status returns the Status for the client.
func (e *mediaError) Status() metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.message}
	if e.routed {
		s.Details = &metav1.StatusDetails{}
	}
	return s
}

// Unsupported returns the 415 for a body whose media type is not among types.
func Unsupported(types ...string) error {
	return &mediaError{
		code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
		message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(types, ", "),
	}
}

// BodyMedia returns the media type of a body, JSON if the request names none. The error is a 415 for types that the path does not offer.
// Its text always lists protobuf.
//
// Unlike an Accept header, parameters of the type are ignored, but must be well-formed.
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

// PatchMedia returns the media type of a patch: the header up to a semicolon, compared byte for byte. The error is a 415 for types other
// than accepted. If o.Routed, the text is the router's, unless the router knows one of several types in the header.
//
// A patch without a media type is refused as well, since no type is the default.
func PatchMedia(r *http.Request, o Offer, accepted ...string) (string, error) {
	header := r.Header.Get("Content-Type")
	typ, _, _ := strings.Cut(header, ";")
	switch {
	case slices.Contains(accepted, typ):
		return typ, nil
	case o.Routed && !names(header, func(typ string) bool { return slices.Contains(accepted, typ) }):
		return "", newRouted(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
	}
	return "", Unsupported(accepted...)
}
