package api

import (
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Nearly all metadata is plain and valid. isPlain proves that in one pass without a Go struct. The library checks the rest, and writes the
// error texts.

// isPlain reports whether metadata is certainly valid by itself. It accepts only names, labels, annotations and the members that the server
// sets, in their most common form. The name must suit every kind without a rule of its own.
//
// The cost is one pass over the metadata.
func isPlain(metadata value.Value, namespaced bool) bool {
	if metadata.Kind() != value.KindObject {
		return false
	}
	named, placed := false, false
	for i := range metadata.Len() {
		m := metadata.Member(i)
		ok := false
		switch m.Name {
		case "name":
			named, ok = true, isSubdomain(m.Value.Str())
		case "namespace":
			placed, ok = true, len(m.Value.Str()) <= maxLabel && isLabel(m.Value.Str())
		case "labels":
			ok = arePlainLabels(m.Value)
		case "annotations":
			ok = arePlainAnnotations(m.Value)
		case "generation":
			ok = m.Value.Kind() == value.KindInt && m.Value.Int() >= 0
		case "uid", "resourceVersion":
			ok = m.Value.Str() != ""
		case "creationTimestamp":
			_, err := time.Parse(time.RFC3339, m.Value.Str())
			ok = err == nil
		}
		if !ok {
			return false
		}
	}
	return named && placed == namespaced
}

// isPlainChange reports whether plain metadata may certainly replace stored metadata, which fits its Go type.
func isPlainChange(metadata, was value.Value) bool {
	for _, name := range [...]string{
		"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		if !metadata.Get(name).Equal(was.Get(name)) {
			return false
		}
	}
	return metadata.Get("resourceVersion").Str() != "" && metadata.Get("generation").Int() >= was.Get("generation").Int() &&
		was.Get("generation").Kind() != value.KindFloat
}

// Largest lengths of names.
const (
	maxLabel       = 63
	maxSubdomain   = 253
	maxAnnotations = 256 << 10 // of all keys and values together
)

// isLabel reports whether s is a label of a domain name, apart from its length.
func isLabel(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && 0 < i && i < len(s)-1) {
			return false
		}
	}
	return s != ""
}

// isSubdomain reports whether s consists of labels joined by dots.
func isSubdomain(s string) bool {
	if len(s) > maxSubdomain {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isQualified reports whether s is a valid label name: a name, or a domain, a slash and a name.
func isQualified(s string) bool {
	domain, name, found := strings.Cut(s, "/")
	if !found {
		domain, name = "", s
	}
	return (!found || isSubdomain(domain)) && name != "" && isLabelValue(name)
}

// isLabelValue reports whether s is a valid label value.
func isLabelValue(s string) bool {
	for i := range len(s) {
		c := s[i]
		inside := 0 < i && i < len(s)-1 && (c == '-' || c == '_' || c == '.')
		if !inside && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return len(s) <= maxLabel
}

func arePlainLabels(labels value.Value) bool {
	for i := range labels.Len() {
		m := labels.Member(i)
		if m.Value.Kind() != value.KindString || !isQualified(m.Name) || !isLabelValue(m.Value.Str()) {
			return false
		}
	}
	return labels.Kind() == value.KindObject
}

// arePlainAnnotations is arePlainLabels for annotations, whose values are free.
func arePlainAnnotations(annotations value.Value) bool {
	if annotations.Kind() != value.KindObject {
		return false
	}
	size := 0
	for i := range annotations.Len() {
		m := annotations.Member(i)
		if m.Value.Kind() != value.KindString || !isQualified(m.Name) {
			return false
		}
		size += len(m.Name) + len(m.Value.Str())
	}
	return size <= maxAnnotations
}
