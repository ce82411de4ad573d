package report

import (
	"encoding/json"

	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// conflictStatus is what stands for an object that has conflicts, in JSON: the answer of kube-apiserver, with what else there is
// to know of each conflict.
type conflictStatus struct {
	*managedfields.Status
	Object    manifest.Ref   `json:"object"`
	Conflicts []conflictJSON `json:"conflicts"`
}

// conflictJSON is one field that an apply would change, with one of those who own it.
type conflictJSON struct {
	Path   string      `json:"path"`
	Line   int         `json:"line,omitempty"` // in the configuration
	Column int         `json:"column,omitempty"`
	Owner  ownerJSON   `json:"owner"`
	Live   value.Value `json:"live,omitzero"`
	Wanted value.Value `json:"wanted,omitzero"`
}

// statusOf returns the document for the conflicts of applying config. Secrets stay secret.
func statusOf(config *manifest.Object, conflicts merge.Conflicts) (value.Value, error) {
	status := conflictStatus{Status: managedfields.ToStatus(conflicts), Object: config.Ref()}
	for _, c := range conflicts {
		where := config.Key(manifest.Steps(config.Content, c.Path)...)
		live, wanted := c.Live, c.Wanted
		if IsSecretPath(config.Object, c.Path) {
			live, wanted = MaskPair(live, wanted)
		}
		status.Conflicts = append(status.Conflicts, conflictJSON{
			Path: c.Path.Text(), Line: where.Line, Column: where.Column,
			Owner: ownersJSON([]manifest.Holder{{
				Manager: c.Owner.Manager, APIVersion: c.Owner.APIVersion, Time: c.Owner.Time,
			}})[0],
			Live: live, Wanted: wanted,
		})
	}
	text, err := json.Marshal(status)
	if err != nil {
		return value.Value{}, err
	}
	return value.Parse(text)
}

// PrintConflicts writes the conflicts of applying config in place of the object, if p writes JSON: as the Status that
// kube-apiserver answers, with more about each conflict beside its causes. Errors of writing show in Close.
func (p *Printer) PrintConflicts(config *manifest.Object, conflicts merge.Conflicts) error {
	if p.format != FormatJSON {
		return nil
	}
	v, err := statusOf(config, conflicts)
	if err != nil {
		return err
	}
	return p.print(v)
}
