// Package playground answers the page of web/: what an apply of a configuration to a live object stores, with conflicts, plan and owners,
// and what each step of a history does. It asks the rooms of the command line, and so the answers are those of deed apply, deed plan,
// deed blame and deed replay for the same files.
//
// Its nouns are [Request] and [Answer], both JSON: a page calls [Do]. The package reads no files. It leaves out the validation of a server,
// kustomize, downloads and OpenAPI documents, because their libraries are larger than all the rest.
package playground

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
)

// The names that the texts of a request have in messages.
const (
	ConfigFile      = "config.yaml"
	LiveFile        = "live.yaml"
	DefinitionsFile = "definitions.yaml"
	HistoryFile     = "history.txtar"
)

// Request is a question of the page. Exactly one of Apply, History and Edit is set.
type Request struct {
	// Definitions has CustomResourceDefinitions, which may be none.
	Definitions string `json:"definitions,omitempty"`
	// Now is the time of writes, and the origin of ages. Steps of a history with a time of their own are not affected.
	Now time.Time `json:"now"`

	Apply   *Apply   `json:"apply,omitempty"`
	History *History `json:"history,omitempty"`
	Edit    *Edit    `json:"edit,omitempty"`
}

// Apply asks what an apply of configurations to live objects does. Without configurations, it asks for the owners of the live objects.
type Apply struct {
	Live    string   `json:"live"`
	Config  string   `json:"config"`
	Manager string   `json:"manager"`
	Force   bool     `json:"force,omitempty"`  // take all fields in conflict
	Fields  []string `json:"fields,omitempty"` // the paths of fields to take
}

// History asks what the steps of a history do: the text of a file for deed replay, which may be a txtar archive.
type History struct {
	Text string `json:"text"`
}

// Answer is the answer to a request.
type Answer struct {
	// Problems are the notices of the run about its input, in order.
	Problems []Problem `json:"problems"`
	// Messages is what the command would write to standard error, and Plan the output of deed plan.
	Messages string `json:"messages"`
	Plan     string `json:"plan,omitempty"`

	Objects []*Object `json:"objects,omitempty"` // the answer to Apply
	Steps   []*Step   `json:"steps,omitempty"`   // the answer to History
	Text    string    `json:"text,omitempty"`    // the answer to Edit
}

// Problem is a notice about the input.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Object  string `json:"object,omitempty"`
	Text    string `json:"text"`
	Warning bool   `json:"warning,omitempty"`
}

// Do answers a request in JSON with an [Answer] in JSON. It never panics: a failure of deed is a problem without a file.
func Do(request []byte) (answer []byte) {
	defer func() {
		if x := recover(); x != nil {
			answer = marshal(failed("deed failed: " + new(secret.Rules).Panic(x)))
		}
	}()
	var r Request
	if err := json.Unmarshal(request, &r); err != nil {
		return marshal(failed("the request of the page cannot be read: " + secret.Open.Error(err)))
	}
	return marshal(r.answer())
}

func failed(text string) *Answer { return &Answer{Problems: []Problem{{Text: text}}} }

func marshal(a *Answer) []byte {
	text, err := json.Marshal(a)
	if err != nil { // no part of an answer can fail to become JSON
		panic("playground: " + secret.Open.Error(err))
	}
	return text
}

// answer answers r.
func (r *Request) answer() *Answer {
	s := newSession(r)
	switch {
	case r.Apply != nil:
		s.apply(r.Apply)
	case r.History != nil:
		s.replay()
	case r.Edit != nil:
		s.edit(r.Edit)
	}
	return s.end()
}

// session answers one request.
type session struct {
	*types.Library
	request  *Request
	messages bytes.Buffer
	out      *Answer
	pages    *report.BlamePages
}

func newSession(r *Request) *session {
	s := &session{request: r, out: &Answer{}}
	files := map[string][]byte{DefinitionsFile: []byte(r.Definitions)}
	if a := r.Apply; a != nil {
		files[LiveFile], files[ConfigFile] = []byte(a.Live), []byte(a.Config)
	}
	if h := r.History; h != nil {
		files[HistoryFile] = []byte(h.Text)
	}
	s.Library = types.NewLibrary(&manifest.Loader{
		Log: notice.NewLog(&s.messages, nil), Archived: files, Secrets: &secret.Rules{}, Jobs: 1,
	})
	s.pages = report.NewBlamePages(report.OwnerNames{Times: report.TimeRelative, Now: r.Now})
	return s
}

// now is the clock of writes.
func (s *session) now() time.Time { return s.request.Now }

// schemas returns the flags of the schemas of s.
func (s *session) schemas() types.Flags {
	if strings.TrimSpace(s.request.Definitions) == "" {
		return types.Flags{}
	}
	return types.Flags{Crds: []string{DefinitionsFile}}
}

// end completes the answer.
func (s *session) end() *Answer {
	s.out.Messages = s.messages.String()
	s.out.Problems = []Problem{}
	for _, n := range s.Notices {
		s.out.Problems = append(s.out.Problems, Problem{n.Where.File, n.Where.Line, n.Where.Column, n.Subject, n.Text, n.Warning})
	}
	return s.out
}
