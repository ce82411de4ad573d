package player

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/klog/v2"

	"github.com/deed-project/deed/oracle/kinds"
	"github.com/deed-project/deed/oracle/relabel"
)

var serve = flag.Bool("serve", false, "answer the questions on standard input")

// TestServe answers the questions on standard input, if it is asked to.
func TestServe(t *testing.T) {
	if !*serve {
		t.Skip("without -serve: package releases runs this program")
	}
	klog.SetLogger(klog.Logger{})
	synctest.Test(t, func(t *testing.T) {
		in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
		worlds := map[int]*world{}
		for {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			var q Question
			if err := errors.Join(err, json.Unmarshal(line, &q)); err != nil {
				t.Fatal(err)
			}
			for _, number := range q.Forget {
				delete(worlds, number)
			}
			if q.Kind != "" {
				if worlds[q.World], err = open(q); err != nil {
					t.Fatal(err)
				}
			}
			texts := make([]byte, q.Live+q.Body)
			if _, err := io.ReadFull(in, texts); err != nil {
				t.Fatal(err)
			}
			reply, object, err := worlds[q.World].answer(q, texts[:q.Live], texts[q.Live:])
			if err != nil {
				t.Fatal(err)
			}
			reply.Object = len(object)
			if line, err = json.Marshal(reply); err != nil {
				t.Fatal(err)
			}
			out.Write(append(line, '\n'))
			out.Write(object)
			if in.Buffered() == 0 {
				if err := out.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// endpoint is where a write arrives.
type endpoint struct{ apiVersion, subresource string }

// world is a definition with its field managers.
type world struct {
	types    managedfields.TypeConverter
	versions []string
	kind     string
	managers map[endpoint]*managedfields.FieldManager
	build    builder
}

// builder makes a field manager.
type builder = func(
	managedfields.TypeConverter, runtime.ObjectConvertor, runtime.ObjectDefaulter, runtime.ObjectCreater,
	schema.GroupVersionKind, schema.GroupVersion, string, fields,
) (*managedfields.FieldManager, error)

// answer answers a question about two objects. The error is that of a question that cannot be asked.
func (w *world) answer(q Question, liveText, bodyText []byte) (Reply, []byte, error) {
	time.Sleep(time.Until(q.Time))
	manager, err := w.at(endpoint{q.APIVersion, q.Subresource})
	if err != nil {
		return Reply{}, nil, err
	}
	live, body := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(bodyText, &body.Object); err != nil {
		return Reply{}, nil, err
	}
	if len(liveText) == 0 {
		live.SetGroupVersionKind(schema.FromAPIVersionAndKind(q.APIVersion, w.kind))
	} else if err := utiljson.Unmarshal(liveText, &live.Object); err != nil {
		return Reply{}, nil, err
	}
	var out runtime.Object
	switch q.Verb {
	case "update":
		out, err = manager.Update(live, body, q.Manager)
	case "quiet":
		out = manager.UpdateNoErrors(live, body, q.Manager)
	default:
		out, err = manager.Apply(live, body, q.Manager, q.Verb == "force")
	}
	if err != nil {
		return failed(err), nil, nil
	}
	text, err := json.Marshal(out.(*unstructured.Unstructured).Object)
	return Reply{}, text, err
}

// open returns the world of the kind that q describes.
func open(q Question) (*world, error) {
	w := &world{versions: q.Versions, kind: q.Kind, managers: map[endpoint]*managedfields.FieldManager{}, build: managedfields.NewDefaultCRDFieldManager}
	if q.Builtin {
		source, ok := kinds.Of(schema.FromAPIVersionAndKind(q.APIVersion, q.Kind))
		if !ok {
			return nil, fmt.Errorf("no types for %s %s", q.APIVersion, q.Kind)
		}
		w.types, w.build = source.Types, managedfields.NewDefaultFieldManager
		return w, nil
	}
	var err error
	w.types, err = managedfields.NewTypeConverter(q.Schemas, q.Preserve)
	return w, err
}

// at returns the field manager of an endpoint.
func (w *world) at(e endpoint) (*managedfields.FieldManager, error) {
	if known, ok := w.managers[e]; ok {
		return known, nil
	}
	gvk := schema.FromAPIVersionAndKind(e.apiVersion, w.kind)
	manager, err := w.build(w.types, relabel.Machine{}, relabel.Machine{}, relabel.Machine{}, gvk, gvk.GroupVersion(), e.subresource,
		resets(w.versions, e.subresource))
	w.managers[e] = manager
	return manager, err
}

// failed returns the reply with an error.
func failed(err error) Reply {
	reply := Reply{Error: err.Error()}
	var withStatus apierrors.APIStatus
	if errors.As(err, &withStatus) {
		reply.Status, err = json.Marshal(withStatus.Status())
		if err != nil {
			panic(err) // cannot happen: a status is plain data
		}
	}
	return reply
}
