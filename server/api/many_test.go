package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// TestSoundOwners validates thousands of valid owner references.
func TestSoundOwners(t *testing.T) {
	const owner = `{"apiVersion":"apps/v1","kind":"Pod","name":"p","uid":"u"}`
	text := `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"o","ownerReferences":[` + strings.Repeat(owner+",", 5000) + owner + `]}}`
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if errs := api.ValidateMetadata(t.Context(), v, value.Value{}, false); len(errs) > 0 {
		t.Errorf("%d errors, first %v", len(errs), errs[0])
	}
}

// TestManyOwners checks that few and many owner references give the same errors, each with its index.
func TestManyOwners(t *testing.T) {
	const wrong = `{"apiVersion":"v1","kind":"Event","name":"","uid":"u"},{"apiVersion":"a/b/c","kind":"","name":"p","uid":""},` +
		`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u","controller":true}`
	for _, validate := range []func(v value.Value) []string{
		func(v value.Value) (out []string) {
			for _, e := range api.ValidateMetadata(t.Context(), v, value.Value{}, false) {
				out = append(out, fmt.Sprint(e.Type, " ", e.Field, " ", e.Detail))
			}
			return out
		},
		func(v value.Value) (out []string) {
			for _, e := range api.ValidateNew(v, false) {
				out = append(out, fmt.Sprint(e.Type, " ", e.Field, " ", e.Detail))
			}
			return out
		},
	} {
		said := func(sound int) []string {
			good := strings.Repeat(`{"apiVersion":"apps/v1","kind":"Pod","name":"p","uid":"u"},`, sound)
			v, err := value.Parse([]byte(`{"apiVersion":"v1","kind":"Thing","metadata":{"name":"o","ownerReferences":[` + good + wrong + `]}}`))
			if err != nil {
				t.Fatal(err)
			}
			out := validate(v)
			for i := range out {
				for k := range 4 {
					out[i] = strings.Replace(out[i], fmt.Sprintf("[%d]", sound+k), fmt.Sprintf("[%d]", k), 1)
				}
			}
			slices.Sort(out)
			return out
		}
		if few, many := said(0), said(100); len(few) < 4 || !slices.Equal(few, many) {
			t.Errorf("few:\n%s\nmany:\n%s", strings.Join(few, "\n"), strings.Join(many, "\n"))
		}
	}
}
