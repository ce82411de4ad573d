// Package yaml reads schemas in the schema YAML of structured-merge-diff.
//
// [Parse] returns a [schema.Document] for [schema.Compile]. The grammar is that of
// [schema.ParseDocument]. This package is separate from package schema because it imports a YAML
// library: programs with schemas in another form do not need one.
package yaml

import (
	"fmt"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
)

// Parse reads a schema from its text, which is one document of YAML or JSON.
// [schema.Document.Value] is the reverse: its JSON text is YAML, too.
//
// The error names the line with invalid YAML, or gives the number of documents if it is not one.
// Other errors are those of [schema.ParseDocument], which joins a [*schema.Error] for each defect.
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
