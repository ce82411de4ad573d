// Package yaml reads schemas as people write them: in the schema YAML of structured-merge-diff.
//
// [Parse] gives a [schema.Document], which [schema.Compile] takes. The grammar is that of
// [schema.ParseDocument]. This package stands apart from package schema because it imports a YAML
// library: programs that bring their schemas in another form do not compile one.
package yaml

import (
	"fmt"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
)

// Parse reads a schema from its text, which is one document of YAML or JSON. [schema.Document.Value]
// goes the other way: its JSON text is YAML, too.
//
// The error says in which line the text is no YAML, or how many documents there are if not one, or it
// is that of [schema.ParseDocument], which joins a [*schema.Error] for each defect.
func Parse(text []byte) (*schema.Document, error) {
	docs, err := yaml.Parse("schema", text)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("expected one document, the schema, but there are %d", len(docs))
	}
	return schema.ParseDocument(docs[0].Value)
}
