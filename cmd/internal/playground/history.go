package playground

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/deed-project/deed/cmd/internal/history"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
)

// Step is what a step of a history does.
type Step struct {
	*history.StepResult // the output of deed replay -o json
	// Text is the output of deed replay.
	Text string `json:"text"`
	// Blame is the object after the step with the owners of each line; nil if there is none.
	Blame any `json:"blame,omitempty"`
	// Changed holds the lines of Blame, counted from 0, that the object lacks after the step before.
	Changed []int `json:"changed,omitempty"`
}

// replay answers with the steps of all histories of the request.
func (s *session) replay() {
	if strings.TrimSpace(s.request.History.Text) == "" {
		return
	}
	for _, t := range s.Read([]string{HistoryFile}, false) {
		for _, h := range history.Histories(s.Library, t) {
			r := history.NewReplayer(s.Library, h, history.Options{Schemas: s.schemas(), Now: s.now})
			if r == nil {
				continue
			}
			kinds, texts := r.Types(), map[manifest.ID]string{} // texts holds the objects as they are stored
			r.Each(func(x *history.StepResult) { s.out.Steps = append(s.out.Steps, s.step(x, kinds, texts)) })
		}
	}
}

// step returns what x shows.
func (s *session) step(x *history.StepResult, kinds *types.Types, texts map[manifest.ID]string) *Step {
	step := &Step{StepResult: x}
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	x.Write(out, false)
	out.Flush() // a buffer takes everything
	step.Text = b.String()
	if x.Object.IsAbsent() {
		return step
	}
	o := s.read(x.Object.AppendYAML(nil))
	if o == nil {
		return step
	}
	step.Blame = s.blame(o, kinds)
	text := string(o.View().Value(nil, o.Content).AppendYAML(nil))
	step.Changed = changed(texts[o.Id], text)
	if x.Operation != history.Extract {
		texts[o.Id] = text
	}
	return step
}
