package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// failure is the refusal of a request.
type failure struct {
	code            int
	reason, message string
	// details; without a kind and causes there are none
	group, kind, name string
	causes            []fieldError
}

func badRequest(format string, args ...any) *failure {
	return &failure{code: http.StatusBadRequest, reason: "BadRequest", message: fmt.Sprintf(format, args...)}
}

func (s *Server) notFound(name string) *failure {
	return &failure{
		code: http.StatusNotFound, reason: "NotFound", message: fmt.Sprintf("%s %q not found", s.resource(), name),
		group: s.group, kind: s.plural, name: name,
	}
}

func (s *Server) alreadyExists(name string) *failure {
	return &failure{
		code: http.StatusConflict, reason: "AlreadyExists", message: fmt.Sprintf("%s %q already exists", s.resource(), name),
		group: s.group, kind: s.plural, name: name,
	}
}

func (s *Server) conflict(name, why string) *failure {
	return &failure{
		code: http.StatusConflict, reason: "Conflict",
		message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", s.resource(), name, why),
		group:   s.group, kind: s.plural, name: name,
	}
}

// invalid refuses an object or options for their content. It returns nil when there are no causes.
func invalid(group, kind, name string, causes []fieldError) *failure {
	if len(causes) == 0 {
		return nil
	}
	var texts []string
	for _, c := range causes {
		if text := c.field + ": " + c.message; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	all := strings.Join(texts, ", ")
	if len(texts) > 1 {
		all = "[" + all + "]"
	}
	return &failure{
		code: http.StatusUnprocessableEntity, reason: "Invalid",
		message: fmt.Sprintf("%s %q is invalid: %s", strings.TrimSuffix(kind+"."+group, "."), name, all),
		group:   group, kind: kind, name: name, causes: causes,
	}
}

// failed is what a field manager's error makes of a request.
func failed(err error) *failure {
	s := managedfields.ToStatus(err)
	f := &failure{code: s.Code, reason: s.Reason, message: s.Message}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			f.causes = append(f.causes, fieldError{c.Reason, c.Field, c.Message})
		}
	}
	return f
}

// status returns the body of the answer, metav1.Status.
func (f *failure) status() value.Value {
	s := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": f.message, "code": f.code,
	}
	details := said(map[string]string{"group": f.group, "kind": f.kind, "name": f.name})
	var causes []any
	for _, c := range f.causes {
		causes = append(causes, said(map[string]string{"reason": c.reason, "field": c.field, "message": c.message}))
	}
	if causes != nil {
		details["causes"] = causes
	}
	if len(details) > 0 {
		s["details"] = details
	}
	if f.reason != "" {
		s["reason"] = f.reason
	}
	return mustValue(s)
}

// said returns the texts that are not empty.
func said(texts map[string]string) map[string]any {
	out := map[string]any{}
	for name, text := range texts {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// mustValue converts what this package puts together.
func mustValue(v map[string]any) value.Value {
	out, err := value.FromAny(v)
	if err != nil {
		panic(err)
	}
	return out
}

// quoted returns a list of texts as messages show it.
func quoted(texts []string) string {
	b, err := json.Marshal(texts)
	if err != nil {
		panic(err)
	}
	return string(b)
}
