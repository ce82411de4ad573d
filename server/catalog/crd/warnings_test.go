package crd

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestWarnings looks what a definition is warned of, as a new one and in the place of another: what that has too is not said again.
func TestWarnings(t *testing.T) {
	definition := func(properties string) value.Value {
		v, err := value.Parse([]byte(`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"type":"object","properties":` + properties + `}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const format, set = `unrecognized format "nope"`,
		`x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules`
	plain := definition(`{"a":{"type":"string","format":"date-time"}}`)
	one := definition(`{"a":{"type":"string","format":"nope"},"b":{"additionalProperties":{"type":"string","format":"nope"}}}`)
	both := definition(`{"a":{"type":"string","format":"nope"},"s":{"items":{"type":"object"},"type":"array","x-kubernetes-list-type":"set"}}`)
	for _, c := range []struct {
		object, live value.Value
		want         []string
	}{
		{plain, value.Value{}, nil},
		{one, value.Value{}, []string{format}},
		{both, value.Value{}, []string{format, set}},
		{both, one, []string{set}},
		{both, both, nil},
		{one, plain, []string{format}},
	} {
		if got := warningsOf(c.object, c.live); !slices.Equal(got, c.want) {
			t.Errorf("%v in place of %v: %q, want %q", c.object, c.live, got, c.want)
		}
	}
}
