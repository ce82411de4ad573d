package loopback

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value/structs"
)

// Warning is an Event of type Warning.
type Warning struct {
	Component       string // reports it
	Manager         string // the field manager; "" for [Agent]
	About           corev1.ObjectReference
	Action          string // what the component does about it, if the component records Events of events.k8s.io/v1
	Reason, Message string
	At              time.Time
}

// Warn records an Event: of events.k8s.io/v1 if w has an action, and otherwise of v1. Its members are those that recorders of client-go set
// in each version. The error is the Status of a refusal.
func (c *Client) Warn(ctx context.Context, w Warning) error {
	namespace := w.About.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	path, event := "/api/v1/namespaces/", any(w.v1(namespace))
	if w.Action != "" {
		path, event = "/apis/events.k8s.io/v1/namespaces/", w.eventsV1(namespace)
	}
	body, err := structs.From(event)
	if err != nil {
		return err
	}
	query := url.Values{}
	if w.Manager != "" {
		query.Set("fieldManager", w.Manager)
	}
	return c.Send(ctx, http.MethodPost, path+namespace+"/events?"+query.Encode(), body)
}

// v1 returns an Event of v1.
func (w *Warning) v1(namespace string) corev1.Event {
	at := metav1.NewTime(w.At)
	return corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: w.meta(namespace), InvolvedObject: w.About,
		Reason: w.Reason, Message: w.Message, Type: corev1.EventTypeWarning,
		Source: corev1.EventSource{Component: w.Component}, ReportingController: w.Component,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

// eventsV1 returns an Event of events.k8s.io/v1.
func (w *Warning) eventsV1(namespace string) eventsv1.Event {
	host, _ := os.Hostname() // a host without a name has none in the Event
	return eventsv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, ObjectMeta: w.meta(namespace), Regarding: w.About,
		Action: w.Action, Reason: w.Reason, Note: w.Message, Type: corev1.EventTypeWarning, EventTime: metav1.NewMicroTime(w.At),
		ReportingController: w.Component, ReportingInstance: w.Component + "-" + host,
	}
}

// meta returns the metadata of the Event. The name has the time, so that each Event has its own. It is a UUID if the name of the object cannot
// be in the name of an Event.
func (w *Warning) meta(namespace string) metav1.ObjectMeta {
	name := fmt.Sprintf("%s.%x", w.About.Name, w.At.UnixNano())
	if len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		name = api.NewUID()
	}
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}
