package checkpipe

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/validation"
)

// Serve answers the questions of a [Client] on in, by checks, until in ends.
func Serve(in io.Reader, out io.Writer, checks validation.Checks) error {
	s := server{checks: checks, rules: map[int]validation.Rules{}}
	questions, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var q question
		switch err := questions.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("a question: %w", err)
		}
		checked, err := s.answer(q)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer{faultsOf(checked.Errors), checked.Warnings}); err != nil {
			return err
		}
	}
}

// server answers questions.
type server struct {
	checks validation.Checks
	rules  map[int]validation.Rules // by the numbers of schemas
}

func (s *server) answer(q question) (out validation.Checked, err error) {
	object, err := parsed(q.Object)
	if err != nil {
		return out, fmt.Errorf("a question about an object: %w", err)
	}
	live, err := parsed(q.Live)
	if err != nil {
		return out, fmt.Errorf("a question about a live object: %w", err)
	}
	if q.Schema == 0 {
		return s.checks.Whole(q.Kind, q.Subresource, object, live)
	}
	if len(q.OpenAPIV3Schema) > 0 {
		schema, err := parsed(q.OpenAPIV3Schema)
		if err != nil {
			return out, fmt.Errorf("schema %d: %w", q.Schema, err)
		}
		s.rules[q.Schema] = s.checks.Rules(schema)
	}
	rules, ok := s.rules[q.Schema]
	if !ok {
		return out, fmt.Errorf("a question about schema %d, which no question contained", q.Schema)
	}
	known := make(field.ErrorList, len(q.Known))
	for i, typ := range q.Known {
		known[i] = &field.Error{Type: typ}
	}
	return rules(known, object, live)
}
