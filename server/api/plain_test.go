package api

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// library returns the library's errors in metadata that replaces old, which may be absent.
func library(t *testing.T, metadata, old value.Value, namespaced bool) field.ErrorList {
	t.Helper()
	object, was := metadataOnly(metadata), metadataOnly(old)
	m, err := objectMeta(object)
	if err != nil {
		return field.ErrorList{field.InternalError(metadataPath, err)}
	}
	errs := validation.ValidateObjectMetaAccessor(m, namespaced, PathSegment, metadataPath)
	if old.IsAbsent() {
		return append(errs, validation.ValidateObjectMetaDeclaratively(t.Context(), operation.Create, m, nil, namespaced,
			validation.NameIsDNSSubdomain, metadataPath, true)...)
	}
	before, err := objectMeta(was)
	if err != nil {
		return field.ErrorList{field.InternalError(metadataPath, err)}
	}
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, before, metadataPath)...)
	return append(errs, validation.ValidateObjectMetaDeclaratively(t.Context(), operation.Update, m, before, namespaced, nil,
		metadataPath, true)...)
}

func metadataOnly(metadata value.Value) value.Value {
	return value.Object().With("metadata", metadata)
}

// texts are values for members of metadata, within and around the library's rules.
var texts = []string{
	"", "a", "a-b", "-a", "a-", "a.b", "a..b", ".a", "A", "aB", "a_b", "a/b", "example.org/a", "Example.org/a", "example.org/", "/a",
	"example.org/a/b", "a b", "é", "0", "..", ".", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a.", 126) + "a",
	strings.Repeat("a.", 127) + "a", strings.Repeat("a", 253) + "/a", strings.Repeat("a.", 126) + "a/a", "2026-01-02T03:04:05Z",
	"2026-01-02T03:04:05+01:00", "2026-13-02T03:04:05Z", "7",
}

// random returns metadata that is mostly plain.
func random(r *rand.Rand) value.Value {
	pick := func(usual string) value.Value {
		switch r.IntN(12) {
		case 0:
			return value.String(texts[r.IntN(len(texts))])
		case 1:
			return [...]value.Value{value.Null(), value.Int(3), value.Float(1.5), value.Bool(true), value.List(), value.Object()}[r.IntN(6)]
		}
		return value.String(usual)
	}
	pairs := func() value.Value {
		if r.IntN(12) == 0 {
			return pick("a")
		}
		out := value.Object()
		for range r.IntN(3) {
			out = out.With(texts[r.IntN(len(texts))], pick(texts[r.IntN(len(texts))]))
		}
		return out
	}
	m := value.Object()
	for name, make := range map[string]func() value.Value{
		"name": func() value.Value { return pick("one") }, "namespace": func() value.Value { return pick("default") },
		"uid": func() value.Value { return pick("1-2-3") }, "resourceVersion": func() value.Value { return pick("7") },
		"creationTimestamp": func() value.Value { return pick("2026-01-02T03:04:05Z") },
		"generation":        func() value.Value { return value.Int(int64(r.IntN(4) - 1)) },
		"labels":            pairs, "annotations": pairs,
	} {
		if r.IntN(6) > 0 {
			m = m.With(name, make())
		}
	}
	switch r.IntN(10) {
	case 0:
		m = m.With("finalizers", value.List(pick("example.org/a")))
	case 1:
		m = m.With("deletionTimestamp", pick("2026-01-02T03:04:05Z"))
	case 2:
		m = m.With("deletionGracePeriodSeconds", value.Int(0))
	}
	return m
}

// TestPlain checks with the library that random metadata is valid if it counts as plain.
func TestPlain(t *testing.T) {
	r := seeds.Rand(t)
	isNew, changed := 0, 0
	for range 200_000 {
		m, namespaced := random(r), r.IntN(4) > 0
		if !isPlain(m, namespaced) {
			continue
		}
		if isNew++; len(library(t, m, value.Value{}, namespaced)) > 0 {
			t.Fatalf("%v is plain: %v", m, library(t, m, value.Value{}, namespaced))
		}
		was := random(r)
		if r.IntN(2) == 0 {
			was = m.With("labels", was.Get("labels")).With("generation", was.Get("generation")).With("finalizers", was.Get("finalizers"))
		}
		if _, err := objectMeta(metadataOnly(was)); err != nil || !isPlainChange(m, was) {
			continue
		}
		if changed++; len(library(t, m, was, namespaced)) > 0 {
			t.Fatalf("%v in place of %v is plain: %v", m, was, library(t, m, was, namespaced))
		}
	}
	if isNew < 5_000 || changed < 2_000 {
		t.Errorf("only %d were plain, and %d changes", isNew, changed)
	}
}

// TestPlainAnnotations compares the bound on annotations with the library's.
func TestPlainAnnotations(t *testing.T) {
	m := value.Object().With("name", value.String("one"))
	for _, size := range []int{maxAnnotations - 1, maxAnnotations} {
		long := value.Object().With("a", value.String(strings.Repeat("x", size)))
		plain := isPlain(m.With("annotations", long), false)
		if valid := len(library(t, m.With("annotations", long), value.Value{}, false)) == 0; plain != valid {
			t.Errorf("%d bytes: plain is %t, valid is %t", size, plain, valid)
		}
	}
}
