package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// CRDs makes a server start with the CustomResourceDefinitions in files and directories, such as the config/crd of a kubebuilder project.
// It ignores all other objects there. It fails if there are no definitions.
func CRDs(names ...string) Option {
	return func(o *options) error {
		objects, err := reader.Definitions(names...)
		o.objects = append(o.objects, objects...)
		return err
	}
}

// Files makes a server start with the objects in files, and in the YAML and JSON files of directories. It ignores kustomizations and the
// patches that they name. Definitions come first, then namespaces, then the rest in the order of the files.
func Files(names ...string) Option {
	return func(o *options) error {
		objects, err := reader.Read(names...)
		o.objects = append(o.objects, objects...)
		return err
	}
}

// YAML makes a server start with the objects of a text.
func YAML(text string) Option {
	return func(o *options) error {
		objects, err := parse("", []byte(text))
		o.objects = append(o.objects, objects...)
		return err
	}
}

// texts caches parsed texts, because most servers of a process start with the same ones.
var texts = cache.ByText[[]manifest.Object]{Budget: 16 << 20}

// reader reads objects with parse.
var reader = manifest.Reader{Parse: parse}

// parse is manifest.Parse with a cache by the content of the text.
func parse(name string, text []byte) ([]manifest.Object, error) {
	objects, err := texts.Get(text, func() ([]manifest.Object, error) { return manifest.Parse(name, text) })
	objects = slices.Clone(objects)
	for i := range objects {
		objects[i].File = name
	}
	return objects, err
}

// Apply applies the objects of a text like kubectl apply --server-side --force-conflicts, as manager apitest. If the server refuses one,
// the test fails with the server's text.
func (s *Server) Apply(text string) {
	s.tb.Helper()
	objects, err := parse("", []byte(text))
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, object := range objects {
		if err := s.apply(object.Value); err != nil {
			s.tb.Fatalf("%s %s: %v", object.Get("kind").Str(), object.Get("metadata", "name").Str(), err)
		}
	}
}

func (s *Server) apply(object value.Value) error {
	path, err := s.PathOf(object)
	if err != nil {
		return err
	}
	_, _, err = s.send(http.MethodPatch, path+"?fieldManager=apitest&force=true", "application/apply-patch+yaml", object.AppendJSON(nil))
	return err
}

// send sends a request with a body, and returns the code and the body of the answer. A refusal is an error.
func (s *Server) send(method, path, contentType string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(s.tb.Context(), method, "http://deed.invalid"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", contentType)
	answer, err := s.requests.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close() // it was read to its end
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = refusal(answer.StatusCode, text)
	}
	return answer.StatusCode, text, err
}

// refusal returns the error of a refused request: the code, the message of the Status in body, and the causes that the message omits.
func refusal(code int, body []byte) error {
	text := fmt.Sprintf("%d %s: ", code, http.StatusText(code))
	var s metav1.Status
	if err := json.Unmarshal(body, &s); err != nil || s.Kind != "Status" {
		return errors.New(text + strings.TrimSpace(string(body)))
	}
	text += s.Message
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			if !strings.Contains(s.Message, cause.Message) {
				text += fmt.Sprintf("\n  %s: %s", cause.Field, cause.Message)
			}
		}
	}
	return errors.New(text)
}
