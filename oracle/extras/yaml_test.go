package extras

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Reasons for which package yaml differs from Kubernetes in a case of the YAML test suite.
const (
	readsAll  = "rule 10: Kubernetes does not read what follows the first document"
	notText   = "rule 11: bytes that are no text"
	asJSON    = "a text that is JSON is read as JSON, which Kubernetes leaves to readers of YAML"
	plainMark = "the scanner does not tell that a scalar is marked with ! alone"
)

// yamlDifferences lists the cases with a difference.
var yamlDifferences = map[string]string{
	"bare-document-after-document-end-marker":                        readsAll,
	"comment-between-plain-scalar-lines":                             readsAll,
	"flow-sequence-with-invalid-extra-closing-bracket":               readsAll,
	"invalid-content-after-document-end-marker":                      readsAll,
	"invalid-item-after-end-of-flow-sequence":                        readsAll,
	"missing-document-end-marker-before-directive":                   readsAll,
	"spec-example-9-3-bare-documents":                                readsAll,
	"spec-example-9-6-stream":                                        readsAll,
	"spec-example-9-6-stream-1-3":                                    readsAll,
	"tag-shorthand-used-in-documents-but-only-defined-in-the-first":  readsAll,
	"yaml-directive-without-document-end-marker":                     readsAll,
	"zero-indented-block-scalar":                                     readsAll,
	"zero-indented-block-scalar-with-line-that-looks-like-a-comment": readsAll,
	"construct-binary":                                               notText,
	"flow-mapping-colon-on-line-after-key/00":                        asJSON,
	"tab-at-beginning-of-line-followed-by-a-flow-mapping":            asJSON,
	"tab-indented-top-flow":                                          asJSON,
	"spec-example-6-28-non-specific-tags":                            plainMark,
	"syntax-character-edge-cases/02":                                 plainMark,
}

// TestYAMLSuite compares the cases of the YAML test suite with sigs.k8s.io/yaml, which Kubernetes uses. Values must be equal, and both must
// refuse the same texts.
func TestYAMLSuite(t *testing.T) {
	file, err := os.Open("../../internal/yaml/testdata/suite/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); decoder.More(); {
		var c struct{ Name, YAML string }
		if err := decoder.Decode(&c); err != nil {
			t.Fatal(err)
		}
		answer, same := readAlike(t, c.YAML)
		if listed := yamlDifferences[c.Name] != ""; same == listed {
			t.Errorf("%s: %q: %s; listed as a difference: %v", c.Name, c.YAML, answer, listed)
		}
	}
}

// readAlike parses text, and reports whether Kubernetes reads the same or refuses it too.
func readAlike(t *testing.T, text string) (answer string, same bool) {
	got := value.Null()
	docs, err := yaml.Parse("", []byte(text))
	if len(docs) > 0 {
		got = docs[0].Value
	}
	kubernetes, refused := sigsyaml.YAMLToJSON([]byte(text))
	answer = fmt.Sprintf("got %v, error %v; Kubernetes has %s, error %v", got, err, kubernetes, refused)
	if err != nil || refused != nil {
		return answer, err != nil && refused != nil
	}
	want, err := value.Parse(kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	return answer, got.Equal(want)
}
