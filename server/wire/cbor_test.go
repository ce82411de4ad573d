package wire_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/structsize"
	"github.com/deed-project/deed/server/wire"
)

// TestStandardCBOR reads objects of a built-in kind: what becomes of them, and what their Go type does not take.
func TestStandardCBOR(t *testing.T) {
	pod := func(containers ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": containers}}
	}
	errCheck := errors.New("checked")
	kind := schema.GVK{Version: "v1", Kind: "Pod"}
	for _, c := range []struct {
		name   string
		object any
		check  error
		want   string // of the object, or a part of the error
		strict []string
	}{
		{"with a text for an object", pod("c"), nil, "cannot unmarshal byte string", nil},
		{"without anything", map[string]any{}, nil, `{"apiVersion":"v1","kind":"Pod"}`, nil},
		{"of another kind", map[string]any{"apiVersion": "v1", "kind": "Secret", "data": 1}, nil, `{"apiVersion":"v1","data":1,"kind":"Secret"}`, nil},
		{"with an unknown field", map[string]any{"nope": 1}, nil, `{"apiVersion":"v1","kind":"Pod","nope":1}`,
			[]string{"cbor: found unknown field at map element index 0"}},
		{"with a number for a text", pod(map[string]any{"name": 1}), nil, "cannot unmarshal positive integer", nil},
		{"no map", []any{1}, nil, "unable to determine group/version/kind", nil},
		{"that the check refuses", pod(), errCheck, "checked", nil},
		{"that is large as a Go value", pod(slices.Repeat([]any{map[string]any{}}, 1_000_000)...), nil, structsize.ErrSize.Error(), nil},
	} {
		sent, err := wire.DecodeStandardCBOR([]byte(inCBOR(t, c.object)), &corev1.Pod{}, kind, func([]byte) error { return c.check })
		switch got := sent.Content.String(); {
		case err != nil && !strings.Contains(err.Error(), c.want), err == nil && got != c.want:
			t.Errorf("an object %s: %s, %v, want %s", c.name, got, err, c.want)
		case !slices.Equal(sent.Strict, c.strict):
			t.Errorf("an object %s has the strict errors %q", c.name, sent.Strict)
		}
	}
}
