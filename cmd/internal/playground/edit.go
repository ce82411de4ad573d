package playground

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Edit asks for the text of a configuration in which a field in conflict is given up, or shared with its owners. Comments and order stay.
type Edit struct {
	Config string `json:"config"`
	Live   string `json:"live"`
	Object string `json:"object"` // as in [Object]
	Path   string `json:"path"`   // as in [report.Contested]
	// Share says that the field gets its live value; it is removed otherwise.
	Share bool `json:"share"`
}

// edit answers e.
func (s *session) edit(e *Edit) {
	config, live := s.object(ConfigFile, e.Config, e.Object), s.object(LiveFile, e.Live, e.Object)
	path, err := fieldpath.ParsePath(e.Path)
	switch {
	case config == nil || live == nil:
		s.Problem(notice.InFile(ConfigFile), "there is no %s in here", e.Object)
		return
	case err != nil:
		s.Problem(notice.InFile(ConfigFile), "%s", secret.Open.Error(err))
		return
	}
	var wanted value.Value
	if e.Share {
		wanted = manifest.Lookup(live.Content, path)
	}
	docs, err := yaml.Parse(ConfigFile, []byte(e.Config))
	if err != nil || config.Index >= len(docs) {
		s.Problem(notice.InFile(ConfigFile), "this file cannot be edited here, because a document in it cannot be read")
		return
	}
	doc := docs[config.Index]
	root := put(doc.Value, slices.Concat(config.Within, manifest.Steps(config.Content, path)), wanted)
	text, _, err := yaml.Rewrite([]byte(e.Config), yaml.Replacement{Document: doc, Value: root})
	if err != nil {
		s.Problem(notice.InFile(ConfigFile), "%s", config.View().Error(err))
		return
	}
	s.out.Text = string(text)
}

// object returns the object called name in text, the content of file, or nil.
func (s *session) object(file, text, name string) *manifest.Object {
	for _, o := range s.Objects([]*manifest.Text{{Name: file, Data: []byte(text)}}) {
		if o.String() == name || o.Id.String() == name {
			return o
		}
	}
	return nil
}

// put returns v with w in the place of the value at steps, each a name or an index. If w is absent, the value goes.
func put(v value.Value, steps []any, w value.Value) value.Value {
	if len(steps) == 0 {
		return w
	}
	switch step := steps[0].(type) {
	case string:
		return v.With(step, put(v.Get(step), steps[1:], w))
	case int:
		items := slices.Collect(v.Items())
		if items[step] = put(items[step], steps[1:], w); items[step].IsAbsent() {
			items = slices.Delete(items, step, step+1)
		}
		return value.List(items...)
	}
	return v
}
