package report

import (
	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
)

// explanationJSON is the explanation of a path.
type explanationJSON struct {
	Object     *manifest.Ref `json:"object,omitempty"`
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Path       string        `json:"path"`
	Line       int           `json:"line,omitempty"` // the line in the file
	Value      secret.Value  `json:"value,omitzero"`
	Type       string        `json:"type"`
	Topology   string        `json:"topology"`
	Declared   string        `json:"declaredIn"`
	Source     string        `json:"source"`
	Owners     []ownerJSON   `json:"owners"`
	Through    string        `json:"through,omitempty"` // the atomic list or object that has the owners
	Above      []aboveJSON   `json:"above"`
	Fields     []string      `json:"fields,omitempty"` // the fields of an object, or of the items of a list
	Below      []string      `json:"below,omitempty"`  // how many of the values below each manager owns
	Rules      []string      `json:"rules"`
}

// aboveJSON is a list or object above the path.
type aboveJSON struct {
	Path     string      `json:"path"`
	Topology string      `json:"topology"`
	Owners   []ownerJSON `json:"owners"`
}

func explanationOf(x *explain.Explanation) explanationJSON {
	out := explanationJSON{
		APIVersion: x.Kind.APIVersion(), Kind: x.Kind.Kind, Path: x.Way.Text(x.View), Type: types.TypeText(x.Last().Type),
		Topology: topologyText(x), Declared: x.Declared, Source: x.Source, Owners: []ownerJSON{}, Above: []aboveJSON{},
		Fields: x.Fields, Rules: rulesOf(x),
	}
	for i := range x.Way[:len(x.Way)-1] {
		out.Above = append(out.Above, aboveJSON{x.Way[:i+1].Text(x.View), topologyAbove(x, i), ownersJSON(ownersAbove(x, i))})
	}
	if x.Found == nil {
		return out
	}
	identity := x.Object.Ref()
	out.Object, out.Owners, out.Below = &identity, ownersJSON(x.Found.Owners), sharesText(x.Found.Below)
	if x.IsSet {
		out.Line = x.Where.Line
	}
	if x.Through != nil {
		out.Through = x.View.Path(x.Through)
	}
	out.Value = x.View.Value(x.Way.Path(), x.Last().Value)
	return out
}
