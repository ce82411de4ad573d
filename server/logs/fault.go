package logs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Loggable is an error that knows its text for the log. The text must not contain anything of an object, a request or a webhook.
type Loggable interface {
	error
	LogText() string
}

// NewError returns an error with a constant text, which the log shows.
func NewError(text constant) error { return &constantError{string(text)} }

type constantError struct{ text string }

func (e *constantError) Error() string   { return e.text }
func (e *constantError) LogText() string { return e.text }

// sentinels are errors of libraries with constant texts.
var sentinels = []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded}

// Text returns the text of an error for the log:
//
//	a Loggable                                 its LogText
//	errors of files, connections and TLS       their texts
//	a Status                                   its code
//	an invalid field                           its path up to the first key or index, and its type
//	several errors                             each of them
//	an error that wraps another one            the inner one
//	any other error                            its Go type
func Text(err error) string {
	switch e := err.(type) {
	case nil:
		return "none"
	case Loggable:
		return e.LogText()
	case *url.Error: // its URL may contain credentials
		return e.Op + ": " + Text(e.Err)
	case *fs.PathError, *os.LinkError, *os.SyscallError, syscall.Errno, *net.OpError, *net.DNSError, tls.RecordHeaderError, tls.AlertError,
		*tls.CertificateVerificationError, x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError:
		return err.Error()
	case apierrors.APIStatus:
		code := int(e.Status().Code)
		return strings.TrimSpace(fmt.Sprintf("status %d %s", code, http.StatusText(code)))
	case *field.Error:
		path, _, _ := strings.Cut(e.Field, "[") // the rest has a key of a map, or an index
		return path + ": " + e.Type.String()
	case interface{ Unwrap() []error }:
		return each(e.Unwrap())
	case interface{ Errors() []error }: // an Aggregate of apimachinery
		return each(e.Errors())
	}
	for _, known := range sentinels {
		if err == known {
			return err.Error()
		}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return Text(inner)
	}
	if slow := net.Error(nil); errors.As(err, &slow) && slow.Timeout() {
		return "it took too long"
	}
	return fmt.Sprintf("a %T, whose text may quote an object", err)
}

func each(errs []error) string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, Text(err))
	}
	return strings.Join(texts, "; ")
}
