package managedfields

import "fmt"

// Step Check: configurations that the endpoint refuses.

// BadRequestError is an apply or update that the endpoint refuses for the request alone, whatever
// is stored. kube-apiserver answers it with 400.
type BadRequestError struct {
	Reason string
	Err    error // the cause; nil if Reason says all
}

// Error returns the reason, in the words of kube-apiserver.
func (e *BadRequestError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.Reason
}

// Unwrap returns Err.
func (e *BadRequestError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// checkVersion refuses configurations of another kind or version:
//
//	S1  A configuration is of the endpoint's kind and version, and has no managed fields, not even
//	    an empty list of them.
func (r *request) checkVersion() error {
	if gvk := r.object.GVK(); gvk != r.config.GVK {
		return &BadRequestError{Reason: fmt.Sprintf("invalid object type: %v", gvk)}
	}
	return nil
}

// checkConfig refuses configurations that have managed fields, even an empty list of them. This is
// the other half of S1.
func (r *request) checkConfig() error {
	if r.object.Entries != nil {
		return &BadRequestError{Reason: "metadata.managedFields must be nil"}
	}
	return nil
}
