package judge

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/server/structural/keywords"
)

// verdict collects what an answer says of an object.
type verdict struct {
	object   *manifest.Object
	endpoint *types.Endpoint
	known    []finding.Defect
	finding.Verdict

	at       map[notice.Position][]finding.Defect // all defects, known or not, by their places
	paths    map[string]bool                      // of the known defects, masked
	names    []string                             // of known unknown fields that look like paths
	mistyped map[secret.Key]bool                  // the paths of the known values of a wrong type
}

// newVerdict returns the verdict about o, whose known defects an answer need not repeat.
func newVerdict(o *manifest.Object, e *types.Endpoint, known []finding.Defect) *verdict {
	v := &verdict{
		object: o, endpoint: e, known: known,
		at: map[notice.Position][]finding.Defect{}, paths: map[string]bool{}, mistyped: map[secret.Key]bool{},
	}
	view := o.View()
	for _, d := range known {
		v.at[d.Where] = append(v.at[d.Where], d)
		v.paths[view.Path(d.Path)] = true
		if name := strings.Trim(view.Last(d.Path), `"`); strings.ContainsAny(name, ".[]") {
			v.names = append(v.names, name)
		}
		if d.Class == mistypedClass {
			v.mistyped[secret.KeyOf(d.Path)] = true
		}
	}
	return v
}

// mistypedClass is the class of values of a wrong type.
const mistypedClass = "mistyped"

// classes maps the reasons of causes to classes of findings. Others are invalid.
var classes = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueRequired: types.RequiredClass, metav1.CauseTypeFieldValueNotSupported: types.UnsupportedClass,
	metav1.CauseTypeForbidden: types.ForbiddenClass, metav1.CauseTypeFieldValueDuplicate: "duplicate",
	metav1.CauseTypeTypeInvalid: mistypedClass,
}

// read reads an answer.
func (v *verdict) read(w *recorder) {
	var warnings []string
	for _, text := range warningsOf(w.header) {
		if field, ok := strings.CutPrefix(text, `unknown field "`); ok {
			v.unknown(strings.TrimSuffix(field, `"`))
			continue
		}
		warnings = append(warnings, text)
	}
	v.Warnings = validation.WarningsAbout(v.endpoint.Typ, v.object.Content, warnings)
	if w.code < 300 {
		return
	}
	var status metav1.Status
	if err := json.Unmarshal(w.body.Bytes(), &status); err != nil {
		v.add(nil, types.RefusedClass, w.body.String())
		return
	}
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
	case w.code == http.StatusUnprocessableEntity && status.Details != nil && slices.ContainsFunc(status.Details.Causes, isAboutField):
		for _, cause := range status.Details.Causes {
			class, ok := classes[cause.Type]
			if !ok {
				class = types.InvalidClass
			}
			path := walk.PathIn(v.object.Content, types.InVersion(v.object.Content, keywords.Place(cause.Field, cause.Message)))
			v.add(types.Named(v.endpoint.Typ, v.object.Content, path), class, cause.Message)
		}
	case w.code == http.StatusBadRequest && slices.ContainsFunc(v.known, func(d finding.Defect) bool { return !d.Mild }): // known already
	default:
		v.Unread = w.code == http.StatusBadRequest
		v.add(nil, types.RefusedClass, status.Message)
	}
}

func isAboutField(cause metav1.StatusCause) bool { return cause.Field != "" }

// add adds a finding about the value at path, unless it is known.
func (v *verdict) add(path fieldpath.Path, class, message string) {
	f := types.NewFinding(path, class, secret.RawText(message))
	d := finding.DefectOf(v.object, f)
	for _, other := range v.at[d.Where] {
		if other.Detail == d.Detail || class == mistypedClass && other.Class == class {
			return
		}
	}
	v.note(d)
}

// note adds a defect.
func (v *verdict) note(d finding.Defect) {
	v.at[d.Where] = append(v.at[d.Where], d)
	v.Defects = append(v.Defects, d)
}

// unknown adds a finding about a field that the schema lacks, unless it is known. What lies below a value of the wrong type is no field: it may
// be data, and so a secret.
func (v *verdict) unknown(field string) {
	path := types.Named(v.endpoint.Typ, v.object.Content, walk.PathIn(v.object.Content, field))
	for n := range len(path) + 1 {
		if v.mistyped[secret.KeyOf(path[:n])] {
			return
		}
	}
	// The server does not quote names, so that one with dots or brackets reads as a path.
	if v.paths[v.object.View().Path(path)] || slices.ContainsFunc(v.names, func(name string) bool { return strings.HasSuffix(field, name) }) {
		return
	}
	d := finding.DefectOf(v.object, types.NewFinding(path, "unknown", secret.RawText("field not declared in schema")))
	d.Mild = true
	v.note(d)
}

// warningsOf returns the texts of the warnings in a header.
func warningsOf(header http.Header) []string {
	var out []string
	warnings, _ := utilnet.ParseWarningHeaders(header["Warning"]) // the server writes them well
	for _, w := range warnings {
		out = append(out, w.Text)
	}
	return out
}
