package api

import (
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
)

// flag returns the value of a boolean parameter. An absent one is nil, 0 and false (in any case) are false, and any other text is true, the
// empty one included.
func flag(query url.Values, name string) *bool {
	if !query.Has(name) {
		return nil
	}
	text := query.Get(name)
	set := text != "0" && !strings.EqualFold(text, "false")
	return &set
}

// Flag reports whether a boolean parameter is true by the rules of kube-apiserver; see flag.
func Flag(query url.Values, name string) bool {
	set := flag(query, name)
	return set != nil && *set
}

// number returns the value of a numeric parameter, or nil if it is absent. A malformed number is a 400; the empty text is one.
func number(query url.Values, name string) (*int64, error) {
	if !query.Has(name) {
		return nil, nil
	}
	n, err := strconv.ParseInt(query.Get(name), 10, 64)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	return &n, nil
}

// text returns the value of a parameter, or nil if it is absent.
func text(query url.Values, name string) *string {
	if !query.Has(name) {
		return nil
	}
	s := query.Get(name)
	return &s
}

// RefuseExport refuses, with 400, a read that asks for an object without what the server added: no server does that any more.
func RefuseExport(query url.Values) error {
	if !Flag(query, "export") {
		return nil
	}
	return errors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
}
