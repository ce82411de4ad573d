package wire

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// ReadBody returns the body of a request. The error is a 413 if it has more than limit bytes.
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

// Sent is an object as a client sent it, with what strict decoding says about its text: names that stand twice in one object.
// Of those, the last counts.
type Sent struct {
	Content value.Value
	Strict  []string
}

// DecodeObject reads the object of a create or update. kind is the one that the path asks for, which the texts of refusals
// name. The error is a 400.
func DecodeObject(body []byte, media, kind string) (Sent, error) {
	if media == JSON {
		content, err := value.Parse(body)
		if err == nil && content.Get("kind").Str() != "" && content.Get("apiVersion").Kind() != value.KindNull {
			return Sent{Content: content}, nil
		}
	}
	return decodeSlowly(body, media, kind)
}

// DecodeStandard is DecodeObject for built-in kinds, whose objects are of kind standard if they do not say what they are.
func DecodeStandard(body []byte, media string, standard schema.GVK) (Sent, error) {
	content, err := value.Parse(body)
	if media != JSON || err != nil || content.Kind() != value.KindObject {
		return decodeSlowly(body, media, standard.Kind)
	}
	return Sent{Content: withStandard(content, standard)}, nil
}

// withStandard returns content with a kind and an apiVersion, those of standard where it has none.
func withStandard(content value.Value, standard schema.GVK) value.Value {
	if content.Get("kind").Str() == "" {
		content = content.With("kind", value.String(standard.Kind))
	}
	if content.Get("apiVersion").Str() == "" {
		content = content.With("apiVersion", value.String(standard.APIVersion()))
	}
	return content
}

// unrecognized refuses a body that is no object: 400.
func unrecognized(kind string, why error, shown string) error {
	return errors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, why, shown))
}

// decodeSlowly reads an object with the library that kube-apiserver uses.
func decodeSlowly(body []byte, media, kind string) (Sent, error) {
	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, nil, typer{}, kjson.SerializerOptions{
		Strict: true, Yaml: media == YAML,
	})
	object := &unstructured.Unstructured{}
	_, gvk, err := serializer.Decode(body, nil, object)
	var sent Sent
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			sent.Strict = append(sent.Strict, e.Error())
		}
	} else if err != nil {
		if gvk != nil && gvk.Kind != "" {
			return sent, CannotHandle(gvk.Kind, gvk.Version, kind, err)
		}
		return sent, unrecognized(kind, err, summary(body))
	}
	sent.Content, err = value.FromAny(object.Object)
	return sent, err
}

// CannotHandle refuses an object of the given kind and version that cannot be read as one of kind wanted: 400.
func CannotHandle(kind, version, wanted string, why error) error {
	return errors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind, version, wanted, why))
}

// typer says of objects that they are of the kind that they say.
type typer struct{}

// ObjectKinds returns the kind that the object says it is of.
func (typer) ObjectKinds(o runtime.Object) ([]kschema.GroupVersionKind, bool, error) {
	return []kschema.GroupVersionKind{o.GetObjectKind().GroupVersionKind()}, false, nil
}

// Recognizes reports true.
func (typer) Recognizes(kschema.GroupVersionKind) bool { return true }

// summary shows a body that cannot be read: as text if it looks like an object, and in hexadecimal digits otherwise.
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
