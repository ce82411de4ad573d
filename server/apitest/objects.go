package apitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/server/memo"
	"github.com/deed-project/deed/value"
)

// CRDs makes a server begin with the CustomResourceDefinitions in files, and in the YAML and JSON files below folders.
func CRDs(names ...string) Option { return Files(names...) }

// Files makes a server begin with the objects in files, and in the YAML and JSON files below folders. Definitions come first, then
// namespaces, then the rest in the order of the files.
func Files(names ...string) Option {
	return func(o *options) error {
		objects, err := manifest.ReadFilesBy(parse, names)
		o.objects = append(o.objects, objects...)
		return err
	}
}

// YAML makes a server begin with the objects of a text.
func YAML(text string) Option {
	return func(o *options) error {
		objects, err := parse("", []byte(text))
		o.objects = append(o.objects, objects...)
		return err
	}
}

// texts are those that were read, which most servers of a process begin with.
var texts = memo.Of[[]value.Value]{Most: 256}

// parse is manifest.Parse that reads a text once. Nobody may modify what it returns.
func parse(name string, text []byte) ([]value.Value, error) {
	return texts.Get(text, func() ([]value.Value, error) { return manifest.Parse(name, text) })
}

// Apply applies the objects of a text as kubectl apply --server-side --force-conflicts does, as manager apitest. The test fails if
// one is refused.
func (s *Server) Apply(text string) {
	s.tb.Helper()
	objects, err := parse("", []byte(text))
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, object := range objects {
		if err := s.apply(object); err != nil {
			s.tb.Fatalf("%s %s: %v", object.Get("kind").Str(), object.Get("metadata", "name").Str(), err)
		}
	}
}

func (s *Server) apply(object value.Value) error {
	path, err := s.PathOf(object)
	if err != nil {
		return err
	}
	url := "http://deed.invalid" + path + "?fieldManager=apitest&force=true"
	r, err := http.NewRequestWithContext(s.tb.Context(), http.MethodPatch, url, bytes.NewReader(object.AppendJSON(nil)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	answer, err := s.requests.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // it was read to its end
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%d: %s", answer.StatusCode, body)
	}
	return err
}
