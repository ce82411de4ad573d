package walk

import (
	"regexp"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// WithMember returns an object, which may be nothing yet, with a member.
func WithMember(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// LazyRegexp returns a function that compiles expr at its first call. Programs that validate nothing then start faster.
func LazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// IsSet reports whether a value is there, and not null.
func IsSet(v value.Value) bool { return !v.IsAbsent() && !v.IsNull() }

// Same reports whether two values say the same: nothing, null and an empty list or object are not told apart.
func Same(a, b value.Value) bool { return a.Equal(b) || IsEmpty(a) && IsEmpty(b) }

// Identical reports whether two values are the same to kube-apiserver where it tells absent lists and maps from empty ones.
func Identical(a, b value.Value) bool { return a.Equal(b) || !IsSet(a) && !IsSet(b) }

// IsEmpty reports whether a value is nothing, null, or an empty list or object.
func IsEmpty(v value.Value) bool {
	return !IsSet(v) || (v.Kind() == value.KindObject || v.Kind() == value.KindList) && v.Len() == 0
}

// NamesIn returns what the items of a list have as the member called field.
func NamesIn(list value.Value, field string) []string {
	var out []string
	for item := range list.Items() {
		out = append(out, item.Get(field).Str())
	}
	return out
}

// Texts returns the strings of a list.
func Texts(list value.Value) []string {
	var out []string
	for item := range list.Items() {
		out = append(out, item.Str())
	}
	return out
}

// LabelSelector returns v as a label selector, nil if it is none.
func LabelSelector(v value.Value) *metav1.LabelSelector {
	var out metav1.LabelSelector
	if v.Kind() != value.KindObject || structs.Into(v, &out) != nil {
		return nil
	}
	return &out
}

// TimeOf returns the time that a text stands for; the zero time for other values.
func TimeOf(v value.Value) time.Time {
	t, _ := time.Parse(time.RFC3339, v.Str()) // the Go type has printed it
	return t
}
