package rows

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	peerfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	peertyped "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// sides are both ways to do the work of a row.
type sides struct{ deed, peer measure.Side }

// pair makes the sides of an engine row out of two objects, each decoded and typed once for each worker, before anything is
// measured. work returns what a worker runs and what it answers.
func pair(
	kind fixture.Kind, first, second []byte,
	deed func(a, b typed.Value) (run func() error, answer func() (string, error)),
	peer func(a, b *peertyped.TypedValue) (run func() error, answer func() (string, error)),
) (sides, error) {
	t, err := kind.Type()
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			a, errA := deedTyped(t, first)
			b, errB := deedTyped(t, second)
			run, answer := deed(a, b)
			return measure.Worker{Run: run, Answer: answer}, errors.Join(errA, errB)
		},
		peer: func() (measure.Worker, error) {
			a, errA := peerTyped(kind, first)
			b, errB := peerTyped(kind, second)
			run, answer := peer(a, b)
			return measure.Worker{Run: run, Answer: answer}, errors.Join(errA, errB)
		},
	}, nil
}

func deedTyped(t *schema.Type, text []byte) (typed.Value, error) {
	v, err := value.Parse(text)
	if err != nil {
		return typed.Value{}, err
	}
	return typed.New(v, t, typed.AllowDuplicates)
}

func peerTyped(kind fixture.Kind, text []byte) (*peertyped.TypedValue, error) {
	types, err := kind.PeerTypes()
	if err != nil {
		return nil, err
	}
	content, err := decode(text)
	if err != nil {
		return nil, err
	}
	return types.ObjectToTyped(&unstructured.Unstructured{Object: content}, peertyped.AllowDuplicates)
}

// compare compares two objects.
func compare(kind fixture.Kind, old, new []byte) (sides, error) {
	return pair(kind, old, new,
		func(a, b typed.Value) (func() error, func() (string, error)) {
			var diff typed.Diff
			run := func() (err error) { diff, err = typed.Compare(a, b); return err }
			return run, func() (string, error) {
				added, modified, removed := diff.Added.AppendJSON(nil), diff.Modified.AppendJSON(nil), diff.Removed.AppendJSON(nil)
				return fmt.Sprintf("+%s ~%s -%s", added, modified, removed), nil
			}
		},
		func(a, b *peertyped.TypedValue) (func() error, func() (string, error)) {
			var diff *peertyped.Comparison
			run := func() (err error) { diff, err = a.Compare(b); return err }
			return run, func() (string, error) {
				added, err1 := diff.Added.ToJSON()
				modified, err2 := diff.Modified.ToJSON()
				removed, err3 := diff.Removed.ToJSON()
				return fmt.Sprintf("+%s ~%s -%s", added, modified, removed), errors.Join(err1, err2, err3)
			}
		})
}

// mergeInto merges a configuration into an object.
func mergeInto(kind fixture.Kind, live, config []byte) (sides, error) {
	return pair(kind, live, config,
		func(a, b typed.Value) (func() error, func() (string, error)) {
			var merged typed.Value
			run := func() (err error) { merged, err = typed.Merge(a, b); return err }
			return run, func() (string, error) { return canonical(merged.Content()) }
		},
		func(a, b *peertyped.TypedValue) (func() error, func() (string, error)) {
			var merged *peertyped.TypedValue
			run := func() (err error) { merged, err = a.Merge(b); return err }
			return run, func() (string, error) { return canonical(merged.AsValue().Unstructured()) }
		})
}

// fieldSet finds the fields of an object.
func fieldSet(kind fixture.Kind, object []byte) (sides, error) {
	return pair(kind, object, object,
		func(a, _ typed.Value) (func() error, func() (string, error)) {
			var set fieldpath.Set
			run := func() error { set = a.Fields(); return nil }
			return run, func() (string, error) { return string(set.AppendJSON(nil)), nil }
		},
		func(a, _ *peertyped.TypedValue) (func() error, func() (string, error)) {
			var set *peerfieldpath.Set
			run := func() (err error) { set, err = a.ToFieldSet(); return err }
			return run, func() (string, error) {
				text, err := set.ToJSON()
				return string(text), err
			}
		})
}

// validate types an object that is held as maps. When built is set, deed's value is made before anything is measured.
func validate(kind fixture.Kind, object []byte, built bool) (sides, error) {
	t, err := kind.Type()
	if err != nil {
		return sides{}, err
	}
	types, err := kind.PeerTypes()
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			content, errDecode := decode(object)
			v, errValue := value.FromAny(content)
			var out typed.Value
			run := func() (err error) {
				if !built {
					if v, err = value.FromAny(content); err != nil {
						return err
					}
				}
				out, err = typed.New(v, t, typed.AllowDuplicates)
				return err
			}
			answer := func() (string, error) { return canonical(out.Content()) }
			return measure.Worker{Run: run, Answer: answer}, errors.Join(errDecode, errValue)
		},
		peer: func() (measure.Worker, error) {
			content, err := decode(object)
			var out *peertyped.TypedValue
			run := func() (err error) {
				out, err = types.ObjectToTyped(&unstructured.Unstructured{Object: content}, peertyped.AllowDuplicates)
				return err
			}
			answer := func() (string, error) { return canonical(out.AsValue().Unstructured()) }
			return measure.Worker{Run: run, Answer: answer}, err
		},
	}, nil
}
