package extras

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// rounds is the number of random cases in each test.
const rounds = 3000

// somePaths are few, so that entries share paths.
var somePaths = []fieldpath.Path{
	fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "size"), fieldpath.MakePathOrDie("spec"),
	fieldpath.MakePathOrDie("spec", "paused"), fieldpath.MakePathOrDie("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
	fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", 80), "name"),
	fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", 443)),
}

// randomEntries makes entries like those in objects: sorted or not, some with equal identities, some without a time.
func randomEntries(t testing.TB, r *rand.Rand, versions ...string) []metav1.ManagedFieldsEntry {
	t.Helper()
	var out []metav1.ManagedFieldsEntry
	for range r.IntN(6) {
		e := metav1.ManagedFieldsEntry{
			Manager:     []string{"a", "b", "csa", "ssa"}[r.IntN(4)],
			Operation:   []metav1.ManagedFieldsOperationType{metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate}[r.IntN(2)],
			APIVersion:  versions[r.IntN(len(versions))],
			FieldsType:  "FieldsV1",
			FieldsV1:    metav1.NewFieldsV1(randomSet(t, r)),
			Subresource: []string{"", "", "scale"}[r.IntN(3)],
		}
		if r.IntN(4) > 0 {
			at := metav1.NewTime(time.Unix(1_800_000_000+int64(r.IntN(4)), 0).UTC())
			e.Time = &at
		}
		switch r.IntN(60) {
		case 0:
			e.FieldsV1 = metav1.NewFieldsV1(`{"bad":{}}`)
		case 1:
			e.APIVersion = ""
		case 2:
			e.Operation = "Delete"
		}
		out = append(out, e)
	}
	return out
}

func randomSet(t testing.TB, r *rand.Rand) string {
	t.Helper()
	s := fieldpath.NewSet()
	for _, p := range somePaths {
		if r.IntN(3) == 0 {
			s.Insert(p)
		}
	}
	text, err := s.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ours returns entries in deed's form. The texts of sets do not change.
func ours(t testing.TB, entries []metav1.ManagedFieldsEntry) []managedfields.Entry {
	t.Helper()
	if entries == nil {
		return nil
	}
	out := []managedfields.Entry{}
	for _, e := range entries {
		o := managedfields.Entry{
			Manager: e.Manager, Operation: merge.Operation(e.Operation), APIVersion: e.APIVersion, FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if e.Time != nil {
			o.Time = e.Time.Time
		}
		if e.FieldsV1 != nil {
			o.FieldsV1 = managedfields.FieldsOf(e.FieldsV1.GetRawString())
		}
		out = append(out, o)
	}
	return out
}

// lines returns entries as lines for comparison, with sets in canonical form.
func lines(t testing.TB, entries []managedfields.Entry) []string {
	t.Helper()
	var out []string
	for _, e := range entries {
		at := "-"
		if !e.Time.IsZero() {
			at = e.Time.UTC().Format(time.RFC3339)
		}
		out = append(out, strings.Join([]string{string(e.Operation), at, e.Manager, e.APIVersion, e.Subresource, e.FieldsType, canonical([]byte(e.FieldsV1.String()))}, " "))
	}
	return out
}

func canonical(text []byte) string {
	var s fieldpath.Set
	if s.FromJSON(bytes.NewReader(text)) != nil {
		return string(text)
	}
	out, err := s.ToJSON()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// sortTies sorts lines that the reference leaves in random order: entries that are equal in every sort key.
func sortTies(lines []string) []string {
	out := slices.Clone(lines)
	key := func(line string) string { return strings.Join(strings.SplitN(line, " ", 6)[:5], " ") }
	slices.SortStableFunc(out, func(a, b string) int {
		if key(a) == key(b) {
			return strings.Compare(a, b)
		}
		return 0
	})
	return out
}

func describe(t testing.TB, entries []metav1.ManagedFieldsEntry) string {
	t.Helper()
	text, err := json.Marshal(entries)
	if err != nil {
		return fmt.Sprint(entries)
	}
	return string(text)
}
