package report

import (
	"encoding/json"
	"errors"

	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// refusalStatus is what stands for an object that is refused, in JSON: the answer of kube-apiserver, with what else there is to
// know of each conflict.
type refusalStatus struct {
	*managedfields.Status
	Object    manifest.Ref   `json:"object"`
	Conflicts []conflictJSON `json:"conflicts,omitempty"`
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

// statusOf returns the document for the reason why config is refused. Secrets stay secret.
func statusOf(config *manifest.Object, reason error) (value.Value, error) {
	status := refusalStatus{Status: managedfields.ToStatus(reason), Object: config.Ref()}
	var conflicts merge.Conflicts
	errors.As(reason, &conflicts)
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

// PrintStatus writes why config is refused in place of the object, if p writes JSON: as the Status that kube-apiserver answers,
// with more about each conflict beside its causes. Errors of writing show in Close.
func (p *Printer) PrintStatus(config *manifest.Object, reason error) error {
	if p.format != FormatJSON {
		return nil
	}
	v, err := statusOf(config, reason)
	if err != nil {
		return err
	}
	return p.print(v)
}
