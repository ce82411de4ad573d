package api

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ListOptions are the parameters of a list, a watch, or the deletion of a collection.
type ListOptions struct {
	Labels            labels.Selector // never nil
	Fields            fields.Selector // never nil; the names of fields are not validated
	Watch             bool
	Bookmarks         bool
	Version           string // resourceVersion
	Match             metav1.ResourceVersionMatch
	Limit             int64 // 0 for no limit
	Continue          string
	Timeout           time.Duration // of a watch; 0 lets the server choose, and a negative one ends it at once
	SendInitialEvents *bool
}

// ParseListOptions is [DecodeListOptions]. Parameters that exclude each other are a 422.
//
// As in kube-apiserver, a watch without a revision asks for the initial events, unless its path has the deprecated form and its query does
// not say watch.
func ParseListOptions(query url.Values) (ListOptions, error) {
	o, err := DecodeListOptions(query)
	if err != nil {
		return o, err
	}
	if o.Watch && o.SendInitialEvents == nil && o.Match == "" && (o.Version == "" || o.Version == "0") {
		o.SendInitialEvents, o.Match = new(true), metav1.ResourceVersionMatchNotOlderThan
	}
	return o, o.check()
}

// DecodeListOptions decodes the query of a request for a collection. A malformed parameter is a 400: numbers are decoded first, then selectors.
func DecodeListOptions(query url.Values) (ListOptions, error) {
	o := ListOptions{
		Watch: Flag(query, "watch"), Bookmarks: Flag(query, "allowWatchBookmarks"), Version: query.Get("resourceVersion"),
		Match: metav1.ResourceVersionMatch(query.Get("resourceVersionMatch")), Continue: query.Get("continue"),
		SendInitialEvents: flag(query, "sendInitialEvents"),
	}
	seconds, err := number(query, "timeoutSeconds")
	if err != nil {
		return o, err
	}
	limit, err := number(query, "limit")
	if err != nil {
		return o, err
	}
	if o.Labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return o, errors.NewBadRequest(err.Error())
	}
	if o.Fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return o, errors.NewBadRequest(err.Error())
	}
	if limit != nil && *limit > 0 {
		o.Limit = *limit
	}
	if seconds != nil {
		o.Timeout = time.Duration(*seconds) * time.Second
	}
	return o, nil
}

// check refuses what must not be said together.
func (o ListOptions) check() error {
	return invalidOptions("ListOptions", validation.ValidateListOptions(&internalversion.ListOptions{
		Watch: o.Watch, ResourceVersion: o.Version, ResourceVersionMatch: o.Match, Continue: o.Continue,
		SendInitialEvents: o.SendInitialEvents,
	}, true))
}

// ParseVersion returns the revision of a resource version; "" and "0" give 0. It may be larger than any revision of a store. A malformed
// version is a 400 for the parameter of a list, and otherwise a plain error, which becomes a 500.
func ParseVersion(text string, list bool) (uint64, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		return n, nil
	}
	wrong := field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	if list {
		return 0, errors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", wrong))
	}
	return 0, wrong
}
