package write

import (
	stderrors "errors"
	"fmt"
	"net"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// Connect carries out a request to reach into a pod, as far as that goes without a kubelet: admission is asked, and then the answer
// is why there is no way there. It is always a refusal.
func (r *Request) Connect() (*read.Answer, error) {
	if len(r.Query["dryRun"]) > 0 {
		return nil, errors.NewBadRequest("dryRun is not supported")
	}
	options, err := r.connection().Read(r.Query, r.Target.Rest)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	r.ObjectName = r.Target.Name
	w := &write{Request: r}
	admitted, err := w.mutate(read.Live{}, managedfields.Object{Content: options})
	if err != nil {
		return nil, err
	}
	if err := w.admit(managedfields.Object{}, admitted); err != nil {
		return nil, err
	}
	w = &write{Request: r.of("pods")}
	if r.Target.Subresource == "proxy" {
		return nil, w.proxy()
	}
	return nil, w.stream(r.Target.Subresource, admitted.Content.Get("container").Str())
}

// connection returns the way into an object that the subresource of a request is; nil if it is none.
func (r *Request) connection() *catalog.Connection { return r.Version.Connects(r.Target.Subresource) }

// proxy returns why there is no way to a port of the pod that is named as [scheme:]name[:port].
func (w *write) proxy() error {
	_, name, _, ok := utilnet.SplitSchemeNamePort(w.ObjectName)
	if !ok {
		return errors.NewBadRequest(fmt.Sprintf("invalid pod request %q", w.ObjectName))
	}
	w.ObjectName = name
	live, err := w.MustLoad()
	if err != nil {
		return err
	}
	address := net.ParseIP(podAddress(live.Content))
	if address == nil || !address.IsGlobalUnicast() {
		return errors.NewBadRequest("address not allowed")
	}
	return errors.NewServiceUnavailable("error trying to reach service: pods do not run here")
}

// podAddress returns the address of a pod, "" if it has none.
func podAddress(pod value.Value) string {
	for ip := range pod.Get("status", "podIPs").Items() {
		return ip.Get("ip").Str()
	}
	return pod.Get("status", "podIP").Str()
}

// stream returns why there is no way to a container of the pod, or to its ports.
func (w *write) stream(subresource, container string) error {
	live, err := w.MustLoad()
	if err != nil {
		return err
	}
	if subresource != "portforward" {
		if err := w.checkContainer(live.Content, container); err != nil {
			return err
		}
	}
	node := live.Content.Get("spec", "nodeName").Str()
	if node == "" {
		return errors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", w.ObjectName))
	}
	addresses, err := w.addressesOf(node)
	switch {
	case err != nil:
		return err
	case addresses == 0:
		return stderrors.New("no preferred addresses found; known addresses: []")
	case w.HTTP.Header.Get("Upgrade") == "":
		return errors.NewBadRequest("Upgrade request required")
	}
	return stderrors.New("error dialing backend: there is no kubelet")
}

// checkContainer refuses, with 400, to go into a container that the pod does not have, or into any if it has several.
func (w *write) checkContainer(pod value.Value, name string) error {
	var names []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for c := range pod.Get("spec", list).Items() {
			names = append(names, c.Get("name").Str())
		}
	}
	switch {
	case name != "" && !slices.Contains(names, name):
		return errors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, w.ObjectName))
	case name == "" && pod.Get("spec", "containers").Len() != 1:
		return errors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", w.ObjectName, names))
	}
	return nil
}

// addressesOf returns how many addresses a node has. The error is the 404 of a pod with the name of the node, if that is not there.
func (w *write) addressesOf(node string) (int, error) {
	of := w.of("nodes")
	of.Target.Namespace, of.ObjectName = "", node
	live, err := of.Load()
	if err == nil && !live.Exists() {
		err = errors.NewNotFound(w.Version.GroupResource(), node)
	}
	return live.Content.Get("status", "addresses").Len(), err
}
