package wire

import (
	"encoding/hex"
	stderrors "errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
)

// ReadBody returns the body of a request. It returns a 413 if the body has more than limit bytes.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, api.TooLarge(limit)
	}
	buffer := make([]byte, 0, max(512, r.ContentLength+1))
	limited := io.LimitedReader{R: r.Body, N: limit + 1}
	for {
		n, err := limited.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		switch {
		case int64(len(buffer)) > limit:
			return nil, api.TooLarge(limit)
		case err == io.EOF:
			return buffer, nil
		case err != nil:
			return nil, err
		case len(buffer) == cap(buffer):
			buffer = append(buffer, 0)[:len(buffer)]
		}
	}
}

// Decoded is an object as a client sent it, with its strict decoding errors: duplicate names in one object. The last duplicate counts.
type Decoded struct {
	Content value.Value
	Strict  []string
	// AllStrict tells that Strict has all strict decoding errors that a client hears of, so that nothing looks for unknown fields.
	AllStrict bool
	// JSON is the body of an object of a built-in kind as JSON; nil if the library has read it. The decoder of the Go type reports faults in the
	// order of this text.
	JSON []byte
	// Duplicates tells that JSON has duplicate names. The decoder of its Go type reports them together with the unknown fields. Strict then
	// holds only the errors of YAML.
	Duplicates bool
	// Unversioned tells that the body of an object of a built-in kind names no apiVersion.
	Unversioned bool
}

// DecodeObject reads the object of a create or update. wanted is the kind that the request path implies, and error texts name it. If
// lenient, an object without a kind is of kind wanted, and all error texts name wanted. The error is a 400.
func DecodeObject(body []byte, media string, wanted schema.GVK, lenient bool) (Decoded, error) {
	if media == JSON {
		content, err := value.Parse(body)
		if err == nil && content.Get("kind").Str() != "" && isTextOrAbsent(content.Get("apiVersion")) {
			return Decoded{Content: content}, nil
		}
	}
	return decodeWithLibrary(body, media, wanted, lenient)
}

func isTextOrAbsent(v value.Value) bool { return v.IsAbsent() || v.Kind() == value.KindString }

// DecodeStandard is DecodeObject for built-in kinds. An object without apiVersion or kind is of kind standard. Null is an empty object.
func DecodeStandard(body []byte, media string, standard schema.GVK) (Decoded, error) {
	if media == JSON {
		content, err := value.Parse(body)
		if err == nil && (content.Kind() == value.KindObject || content.IsNull()) && hasTypeMeta(content) {
			sent := Decoded{Content: content, JSON: body}
			err = sent.complete(standard, body)
			return sent, err
		}
	}
	sent, err := decodeDuplicates(body, media)
	if stderrors.Is(err, kjson.ErrPaths) {
		return sent, api.TooCostly(err.Error())
	}
	if err != nil || !hasTypeMeta(sent.Content) {
		return decodeWithLibrary(body, media, standard, false)
	}
	err = sent.complete(standard, body)
	return sent, err
}

// hasTypeMeta reports whether apiVersion and kind are each a string, null or absent.
func hasTypeMeta(content value.Value) bool {
	for _, name := range []string{"apiVersion", "kind"} {
		if v := content.Get(name); !v.IsNull() && !isTextOrAbsent(v) {
			return false
		}
	}
	return true
}

// decodeDuplicates reads an object that may have duplicate names.
func decodeDuplicates(body []byte, media string) (Decoded, error) {
	var sent Decoded
	text := body
	if media == YAML {
		var err error
		if text, err = yaml.YAMLToJSON(body); err != nil {
			return sent, err
		}
		if _, err = yaml.YAMLToJSONStrict(body); err != nil {
			sent.Strict = append(sent.Strict, err.Error())
		}
	}
	content := map[string]any{}
	strict, err := kjson.UnmarshalStrict(text, &content)
	if err != nil {
		return sent, err
	}
	sent.JSON, sent.Duplicates = text, len(strict) > 0
	sent.Content, err = value.FromAny(content)
	return sent, err
}

// complete adds the kind and the apiVersion of standard to the object, where it lacks them. The error is a 400 of an apiVersion with more
// than one slash, or with a group and no version; body is the body of the request.
func (d *Decoded) complete(standard schema.GVK, body []byte) error {
	if d.Content.IsNull() {
		d.Content = value.Object()
	}
	if d.Content.Get("kind").Str() == "" {
		d.Content = d.Content.With("kind", value.String(standard.Kind))
	}
	said := d.Content.Get("apiVersion").Str()
	switch group, version, _ := strings.Cut(said, "/"); {
	case said == "", said == "/":
		d.Unversioned = true
		d.Content = d.Content.With("apiVersion", value.String(standard.APIVersion()))
	case strings.Contains(version, "/"):
		return unrecognized(standard.Kind, api.UnregisteredKind("", said), summary(body))
	case version == "" && len(group) < len(said):
		return CannotHandle(d.Content.Get("kind").Str(), "", standard.Kind, runtime.NewMissingVersionErr(string(body)))
	default:
		d.Content = WithCoreVersion(d.Content)
	}
	return nil
}

// WithCoreVersion returns an object with a version of the core group that it spells with a slash in front, which means the same, as
// everything else spells it.
func WithCoreVersion(content value.Value) value.Value {
	version, ok := strings.CutPrefix(content.Get("apiVersion").Str(), "/")
	if !ok || version == "" || strings.Contains(version, "/") {
		return content
	}
	return content.With("apiVersion", value.String(version))
}

// unrecognized returns the 400 for a body that is no object.
func unrecognized(kind string, why error, shown string) error {
	return errors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, why, shown))
}

// decodeWithLibrary reads an object with the library that kube-apiserver uses, because clients see the error texts of that library.
func decodeWithLibrary(body []byte, media string, wanted schema.GVK, lenient bool) (Decoded, error) {
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, typer{}, json.SerializerOptions{
		Strict: !lenient, Yaml: media == YAML,
	})
	object := &unstructured.Unstructured{}
	var standard *kschema.GroupVersionKind
	if lenient {
		standard = &kschema.GroupVersionKind{Group: wanted.Group, Version: wanted.Version, Kind: wanted.Kind}
	}
	var sent Decoded
	if err := checkPaths(body, media); err != nil {
		return sent, err
	}
	_, gvk, err := serializer.Decode(body, standard, object)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			sent.Strict = append(sent.Strict, e.Error())
		}
	} else if err != nil {
		return sent, undecodable(gvk, wanted.Kind, err, body)
	}
	sent.Content, err = value.FromAny(object.Object)
	return sent, err
}

// undecodable returns the 400 of a body that the library cannot decode as an object of kind wanted. gvk is the kind that it found first; nil for
// none.
func undecodable(gvk *kschema.GroupVersionKind, wanted string, why error, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return CannotHandle(gvk.Kind, gvk.Version, wanted, why)
	}
	return unrecognized(wanted, why, summary(body))
}

// checkPaths returns a 422 for a body whose field paths exceed the size limit of strict decoding errors.
func checkPaths(body []byte, media string) error {
	if media == YAML {
		if text, err := yaml.YAMLToJSON(body); err == nil {
			body = text
		}
	}
	if err := kjson.CheckPaths(body); err != nil {
		return api.TooCostly(err.Error())
	}
	return nil
}

// CannotHandle returns the 400 for an object of the given kind and version that cannot be decoded as kind wanted.
func CannotHandle(kind, version, wanted string, why error) error {
	return errors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind, version, wanted, why))
}

// typer implements runtime.ObjectTyper with the kind that an object states.
type typer struct{}

// ObjectKinds returns the kind that o states.
func (typer) ObjectKinds(o runtime.Object) ([]kschema.GroupVersionKind, bool, error) {
	return []kschema.GroupVersionKind{o.GetObjectKind().GroupVersionKind()}, false, nil
}

// Recognizes returns true.
func (typer) Recognizes(kschema.GroupVersionKind) bool { return true }

// summary returns the start of a malformed body for an error text: as text if the body begins with a brace, and in hexadecimal digits
// otherwise.
func summary(body []byte) string {
	const shown = 30
	switch text := hex.EncodeToString(body[:min(shown, len(body))]); {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{' && len(body) > shown:
		return string(body[:shown]) + " ..."
	case body[0] == '{':
		return string(body)
	case len(body) > shown:
		return text + " ..."
	default:
		return text
	}
}
