package rows

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apimanagedfields "k8s.io/apimachinery/pkg/util/managedfields"
	peerfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/bench/measure"
)

// entriesOf returns the managed fields of an object.
func entriesOf(object []byte) ([]metav1.ManagedFieldsEntry, error) {
	var meta metav1.PartialObjectMetadata
	err := json.Unmarshal(object, &meta)
	return meta.ManagedFields, err
}

// decodeEntries reads the managed fields of an object. The peer's way to do so that others may call throws the sets away
// once they are read.
func decodeEntries(live []byte) (sides, error) {
	entries, err := entriesOf(live)
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			in := fromEntries(entries)
			var out merge.Managers
			run := func() (err error) { out, err = managedfields.Decode(in); return err }
			answer := func() (string, error) { return setsOf(managedfields.Encode(out)), nil }
			return measure.Worker{Run: run, Answer: answer}, nil
		},
		peer: func() (measure.Worker, error) {
			run := func() error { return apimanagedfields.ValidateManagedFields(entries) }
			return measure.Worker{Run: run, Answer: func() (string, error) { return setsOf(fromEntries(entries)), nil }}, nil
		},
	}, nil
}

// encodeEntries writes the managed fields of an object, out of sets that come from elsewhere. The peer's own code for that
// cannot be called from outside; the side called peer does no more than print its sets.
func encodeEntries(live []byte) (sides, error) {
	entries, err := entriesOf(live)
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			managers, err := managedfields.Decode(fromEntries(entries))
			out := make([]string, len(entries))
			run := func() error {
				for i, e := range managedfields.Encode(managers) {
					out[i] = e.FieldsV1.String()
				}
				return nil
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return joined(out), nil }}, err
		},
		peer: func() (measure.Worker, error) {
			sets := make([]peerfieldpath.Set, len(entries))
			for i, e := range entries {
				if err := sets[i].FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
					return measure.Worker{}, err
				}
			}
			out := make([]string, len(sets))
			run := func() error {
				for i := range sets {
					text, err := sets[i].ToJSON()
					if err != nil {
						return err
					}
					out[i] = string(text)
				}
				return nil
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return joined(out), nil }}, nil
		},
	}, nil
}

// decodeUnseen is decodeEntries with fieldsV1 that have never been seen before.
func decodeUnseen(live []byte) (sides, error) {
	r := request{live: live, sent: live}
	return sides{
		deed: func() (measure.Worker, error) {
			inputs := variants[[]managedfields.Entry]{request: r, vary: unseen, decode: func(text []byte) ([]managedfields.Entry, error) {
				entries, err := entriesOf(text)
				return fromEntries(entries), err
			}}
			var out merge.Managers
			run := func() (err error) { out, err = managedfields.Decode(inputs.next().live); return err }
			answer := func() (string, error) { return setsOf(managedfields.Encode(out)), nil }
			return measure.Worker{Run: run, Answer: answer, Prepare: inputs.prepare}, nil
		},
		peer: func() (measure.Worker, error) {
			inputs := variants[[]metav1.ManagedFieldsEntry]{request: r, vary: unseen, decode: entriesOf}
			run := func() error { return apimanagedfields.ValidateManagedFields(inputs.next().live) }
			answer := func() (string, error) { return setsOf(fromEntries(inputs.current().live)), nil }
			return measure.Worker{Run: run, Answer: answer, Prepare: inputs.prepare}, nil
		},
	}, nil
}

// setsOf returns the fieldsV1 of entries, sorted.
func setsOf(entries []managedfields.Entry) string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.FieldsV1.String()
	}
	return joined(texts)
}

func joined(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}
