package history_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/cmd/internal/history"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/storytest"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The commands are
//
//	replay FILE [until=STEP] [json=] [bare=]   replay the histories in a file, with their schemas and those of [storytest.Story.Flags]
//	pack FILE COMMENT FILE...                  make a txtar archive of files, the first of which is its comment
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"replay": replay, "pack": pack})
}

func replay(s *storytest.Story) {
	c := s.Library()
	now := func() time.Time { return time.Unix(1767225600, 0) }
	until, _ := strconv.Atoi(s.Word("until"))
	for _, text := range c.Read(s.Args, false) {
		for _, h := range history.Histories(c, text) {
			s.Print("history at %v", h.At())
			r := history.NewReplayer(c, h, history.Options{Schemas: s.Flags(), Until: until, Bare: s.Has("bare"), Now: now})
			if r == nil {
				continue
			}
			r.Each(func(step *history.StepResult) { print(s, step) })
		}
	}
	s.Print("exit code %d", c.Code)
}

func print(s *storytest.Story, step *history.StepResult) {
	var b bytes.Buffer
	if s.Has("json") {
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		if err := e.Encode(step); err != nil {
			s.Fatal(err)
		}
	} else {
		out := bufio.NewWriter(&b)
		step.Write(out, report.Painter(false))
		out.Flush()
	}
	s.Print("%s", strings.TrimRight(b.String(), "\n"))
}

func pack(s *storytest.Story) {
	archive := &txtar.Archive{Comment: s.Files[s.Args[1]]}
	for _, name := range s.Args[2:] {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: s.Files[name]})
		delete(s.Files, name) // it is only in the archive from now on
	}
	s.Files[s.Args[0]] = txtar.Format(archive)
}
