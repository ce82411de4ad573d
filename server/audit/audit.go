// Package audit says what happened to requests, in two ways:
//
//   - [Log] hands what admission notes about a request to a function, once the request is answered.
//   - [Recorder] writes the audit log of kube-apiserver, by a policy.
package audit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/logs"
)

// Event is a request that has annotations of admission, once it is answered.
type Event struct {
	ID   string // as the header Audit-Id of the answer has it
	User auth.User
	auth.Action
	Code int
	// Annotations are what was noted, in the order of their keys: those of kube-apiserver, such as
	// mutation.webhook.admission.k8s.io/round_0_index_0, and those that webhooks ask for. A key is there once.
	Annotations []admission.Annotation
}

// Log takes events: Sink, if it is set, and the log of the server on level debug.
type Log struct {
	Sink func(Event) // called by many goroutines at once
	Log  logs.Logger
}

// Annotations collects the annotations of one request. It is safe for concurrent use.
type Annotations struct {
	log    Log
	record *Record

	mu    sync.Mutex
	byKey map[string]admission.Annotation
}

// New returns the annotations of a request, which are none yet, or nil if nothing takes them. The record of the request gets them, too; a nil
// record gets none.
func (l Log) New(ctx context.Context, record *Record) *Annotations {
	if l.Sink == nil && record == nil && !l.Log.Debugs(ctx) {
		return nil
	}
	return &Annotations{log: l, record: record}
}

// Add adds an annotation. The first one of a key counts. The log names the webhook whose annotation is not taken, and not the annotation.
func (n *Annotations) Add(a admission.Annotation) {
	if err := checkAnnotation(a.Key); err != nil {
		by, _, _ := strings.Cut(a.Key, "/")
		n.log.Log.Warn("an annotation is not taken", logs.Name("by", by), logs.Fault(err))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if had, ok := n.byKey[a.Key]; ok {
		if had != a {
			n.log.Log.Warn("an annotation is not overwritten", logs.Name("key", a.Key))
		}
		return
	}
	if n.byKey == nil {
		n.byKey = map[string]admission.Annotation{}
	}
	n.byKey[a.Key] = a
	if !a.BesideBody || n.record.WantsBody() {
		n.record.Annotate(a.Key, a.Value)
	}
}

// checkAnnotation returns what is wrong with the key of an annotation, which is a name with a prefix.
func checkAnnotation(key string) error {
	if strings.Count(key, "/") != 1 {
		return fmt.Errorf("it is no prefix and name, with a slash between them")
	}
	if texts := validation.IsQualifiedName(key); len(texts) > 0 {
		return fmt.Errorf("it is no qualified name: %s", strings.Join(texts, ","))
	}
	return nil
}

// Write hands the annotations to the Log, as an event of a request that is answered with a status code. id is its Audit-Id.
func (n *Annotations) Write(r *http.Request, action auth.Action, id string, code int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.byKey) == 0 {
		return
	}
	event := Event{ID: id, User: auth.UserOf(r.Context()), Action: action, Code: code}
	for _, key := range slices.Sorted(maps.Keys(n.byKey)) {
		a := n.byKey[key]
		event.Annotations = append(event.Annotations, a)
		n.log.Log.Debug("audit", logs.Name("id", id), logs.Name("user", event.User.Name), logs.Name("verb", action.Verb),
			logs.Path(r.URL.Path), logs.Code(code), logs.Name("key", a.Key))
	}
	if n.log.Sink != nil {
		n.log.Sink(event)
	}
}
