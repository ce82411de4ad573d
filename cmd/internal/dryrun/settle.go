package dryrun

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Settle corrects the decisions of the first request of x, an apply of t, by the object that is stored. Merging sets a field that the
// stored object lacks or has in another form. A server may nevertheless store the object as it was:
//
//	applied              live                 stored
//	hostNetwork: false   nothing              nothing: Go leaves out empty values
//	cpu: 1000m           cpu: "1"             cpu: "1", the same quantity
//	stringData: {a: b}   data: {a: Yg==}      data: {a: Yg==}, see [builtin.Kind.Folded]
//
// Such a field is not set but kept, claimed or shared, and containers of it are not adjusted. Its values are the stored ones, which may be
// absent. A created object has no live values, even if its Go type starts with some, such as an empty roleRef. The error says that the
// outcome does not conform to its type. The cost grows with the number of values that the server stores in another form, and for a new
// object with the number of decisions.
func (t *Task) Settle(x Applied, decisions []merge.Decision) ([]merge.Decision, error) {
	if t.at == nil {
		return created(decisions), nil
	}
	staying, err := t.staying(x, decisions)
	if err != nil || len(staying) == 0 {
		return decisions, err
	}
	var out []merge.Decision
	for _, d := range decisions {
		stored, stays := staying[secret.KeyOf(t.Endpoint.Folded(d.Path))]
		switch {
		case !stays || !changes(d):
		case d.Outcome == merge.Adjusted:
			continue
		default:
			d = settled(d, x.applier, stored)
		}
		out = append(out, d)
	}
	return out, nil
}

// created returns the decisions about a new object: values that are set had no live value.
func created(decisions []merge.Decision) []merge.Decision {
	out := slices.Clone(decisions)
	for i, d := range out {
		if d.Outcome == merge.Set || d.Outcome == merge.Adjusted {
			out[i].Live = value.Value{}
		}
	}
	return out
}

// changes reports whether d changes a value, by a set of the value itself or of a value below it.
func changes(d merge.Decision) bool {
	switch d.Outcome {
	case merge.Set, merge.Adjusted, merge.Kept, merge.Shared, merge.Claimed:
		return !d.Live.Equal(d.Result)
	}
	return false
}

// staying returns the values that decisions change and the server stores unchanged. The keys are the paths at which the server stores them.
func (t *Task) staying(x Applied, decisions []merge.Decision) (map[secret.Key]value.Value, error) {
	_, stored, changed, err := storedOtherwise(x)
	if err != nil {
		return nil, err
	}
	otherwise := map[secret.Key]bool{} // the paths of values that are stored in another form than merged, and the containers around them
	for path := range changed.All() {
		for n := range path {
			otherwise[secret.KeyOf(path[:n+1])] = true
		}
	}
	var b fieldpath.Builder
	for _, d := range decisions {
		if changes(d) && otherwise[secret.KeyOf(d.Path)] {
			b.Add(t.Endpoint.Folded(d.Path))
		}
	}
	out := map[secret.Key]value.Value{}
	for step := range typed.Walk(b.Set(), []typed.Value{merging.Live(managing.Merge(x.Plan)), stored}) {
		if step.Values[0].Equal(step.Values[1]) {
			out[secret.KeyOf(step.Path)] = step.Values[1]
		}
	}
	return out, nil
}

// settled returns d as the decision about a field that applier owns afterwards and whose stored value stays.
func settled(d merge.Decision, applier merge.Manager, stored value.Value) merge.Decision {
	d.Live, d.Result = stored, stored
	if d.Outcome != merge.Set {
		return d
	}
	d.Outcome, d.Rule = merge.Claimed, "A2"
	switch {
	case len(d.After) > 1:
		d.Outcome, d.Rule = merge.Shared, "A5"
	case slices.Contains(d.Before, applier):
		d.Outcome = merge.Kept
	}
	return d
}
