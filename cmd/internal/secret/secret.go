// Package secret knows which values of objects are secret, and what stands for them.
package secret

import (
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// What stands for the values of secrets, as kubectl diff has it.
const (
	Masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// lastApplied is the annotation in which client-side apply keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secretParts are the members of a Secret whose members are secret.
var secretParts = []string{"data", "stringData"}

func isSecret(o managedfields.Object) bool {
	return o.GVK() == schema.GVK{Version: "v1", Kind: "Secret"}
}

// IsIn reports whether the value at path of o is secret, or has secrets in it.
func IsIn(o managedfields.Object, path fieldpath.Path) bool {
	if !isSecret(o) || len(path) == 0 {
		return false
	}
	for _, part := range secretParts {
		if path[0] == fieldpath.Field(part) {
			return true
		}
	}
	return len(path) == 3 && path[2] == fieldpath.Field(lastApplied)
}

// Pair returns what to show of two values of which at least one is secret.
func Pair(live, result value.Value) (value.Value, value.Value) {
	switch {
	case live.IsAbsent() && result.IsAbsent():
		return live, result
	case live.IsAbsent():
		return live, value.String(Masked)
	case result.IsAbsent():
		return value.String(Masked), result
	case !live.Equal(result):
		return value.String(maskedBefore), value.String(maskedAfter)
	}
	return value.String(Masked), value.String(Masked)
}

// Objects returns two states of a Secret with the secrets in them masked: a value that is in both
// and differs shows that, and nothing else shows. Objects of other kinds are returned as they are.
func Objects(live, result managedfields.Object) (managedfields.Object, managedfields.Object) {
	if !isSecret(live) && !isSecret(result) {
		return live, result
	}
	for _, part := range secretParts {
		before, after := live.Content.Get(part), result.Content.Get(part)
		live.Content = withMasked(live.Content, part, before, after, true)
		result.Content = withMasked(result.Content, part, after, before, false)
	}
	const metadata, annotations = "metadata", "annotations"
	before := live.Content.Get(metadata, annotations, lastApplied)
	shownBefore, shownAfter := Pair(before, result.Content.Get(metadata, annotations, lastApplied))
	set := func(o managedfields.Object, v value.Value) managedfields.Object {
		if !v.IsAbsent() {
			m := o.Content.Get(metadata)
			o.Content = o.Content.With(metadata, m.With(annotations, m.Get(annotations).With(lastApplied, v)))
		}
		return o
	}
	return set(live, shownBefore), set(result, shownAfter)
}

// withMasked returns content with the members of its member called name masked, given that member
// and its counterpart.
func withMasked(content value.Value, name string, part, other value.Value, isLive bool) value.Value {
	if part.IsAbsent() {
		return content
	}
	if part.Kind() != value.KindObject {
		return content.With(name, value.String(Masked))
	}
	out := part
	for key, secret := range part.Members() {
		live, result := secret, other.Get(key)
		if !isLive {
			live, result = result, live
		}
		before, after := Pair(live, result)
		if isLive {
			out = out.With(key, before)
		} else {
			out = out.With(key, after)
		}
	}
	return content.With(name, out)
}

// Show returns v, which is at path in o, as messages have it. What a Secret keeps is not shown.
func Show(o *manifest.Object, path fieldpath.Path, v value.Value) string {
	if IsIn(o.Object, path) && !v.IsAbsent() {
		return Masked
	}
	return wording.Show(v)
}
