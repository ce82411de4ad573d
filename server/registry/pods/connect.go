package pods

import (
	stderrors "errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
)

// Connect carries out a request to reach into a pod, a node or a service, as far as that goes without kubelets: it asks admission, and then
// refuses the request with the reason why the target cannot be reached.
//
// What a real server answers depends on what is wrong first, and so does this one. For example, a pod without a node and a missing
// container is refused for the container.
func Connect(w *write.Writer, q *rest.Request) error {
	if len(q.Query["dryRun"]) > 0 {
		return errors.NewBadRequest("dryRun is not supported")
	}
	options, err := q.Version.Connects(q.Target.Subresource).Read(q.Query, q.Target.Rest)
	if err != nil {
		return errors.NewBadRequest(err.Error())
	}
	t := &write.Task{Writer: w, Request: q}
	admitted, err := t.Mutate(&read.Live{}, managedfields.Object{Content: options})
	if err != nil {
		return err
	}
	if err := t.Admit(managedfields.Object{}, admitted); err != nil {
		return err
	}
	switch q.Version.Kind {
	case "Node":
		return proxyNode(w, q)
	case "Service":
		return proxyService(w.Reader, q)
	}
	pod := requestOf(w, q, "pods")
	if q.Target.Subresource == "proxy" {
		return proxy(w.Reader, pod)
	}
	return stream(w, pod, q.Target.Subresource, admitted.Content.Get("container").Str())
}

// proxy returns the reason why a port of a pod cannot be reached. The name of the object has the form [scheme:]name[:port].
func proxy(b *read.Reader, q *rest.Request) error {
	_, name, _, ok := utilnet.SplitSchemeNamePort(q.ObjectName)
	if !ok {
		return errors.NewBadRequest(fmt.Sprintf("invalid pod request %q", q.ObjectName))
	}
	q.ObjectName = name
	live, err := b.MustLoad(q)
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

// stream returns the reason why a container of a pod, or its ports, cannot be reached.
//
// The order of its checks is kube-apiserver's. A pod with a node whose address is known would be reached here.
func stream(w *write.Writer, q *rest.Request, subresource, container string) error {
	live, err := w.Reader.MustLoad(q)
	if err != nil {
		return err
	}
	if subresource != "portforward" {
		if err := checkContainer(q.ObjectName, live.Content, container); err != nil {
			return err
		}
	}
	node := live.Content.Get("spec", "nodeName").Str()
	if node == "" {
		return errors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", q.ObjectName))
	}
	if _, err := addressOf(w, q, node); err != nil {
		return err
	}
	switch {
	case q.HTTP.Header.Get("Upgrade") == "":
		return errors.NewBadRequest("Upgrade request required")
	}
	return stderrors.New("error dialing backend: there is no kubelet")
}

// checkContainer refuses, with 400, a container that the pod does not have. A pod with several containers demands a name.
func checkContainer(podName string, pod value.Value, name string) error {
	var names []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for c := range pod.Get("spec", list).Items() {
			names = append(names, c.Get("name").Str())
		}
	}
	switch {
	case name != "" && !slices.Contains(names, name):
		return errors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, podName))
	case name == "" && pod.Get("spec", "containers").Len() != 1:
		return errors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", podName, names))
	}
	return nil
}

// addressTypes lists the types of addresses of nodes, the preferred first.
var addressTypes = []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}

// addressOf returns the address at which a kubelet is reached. The error is a 500 for a node without addresses. If the node does not exist,
// it is a 404 of the resource of the request with the name of the node, as in kube-apiserver.
func addressOf(w *write.Writer, q *rest.Request, node string) (string, error) {
	of := requestOf(w, q, "nodes")
	of.Target.Namespace, of.ObjectName = "", node
	live, err := w.Reader.Load(of)
	if err == nil && !live.Exists() {
		err = errors.NewNotFound(q.Version.GroupResource(), node)
	}
	if err != nil {
		return "", err
	}
	type address struct{ typ, text string }
	var known []address
	for a := range live.Content.Get("status", "addresses").Items() {
		known = append(known, address{a.Get("type").Str(), a.Get("address").Str()})
	}
	for _, typ := range addressTypes {
		if i := slices.IndexFunc(known, func(a address) bool { return a.typ == typ }); i >= 0 {
			return known[i].text, nil
		}
	}
	return "", fmt.Errorf("no preferred addresses found; known addresses: %v", known)
}

// proxyNode returns the reason why a port of a node cannot be reached. The name of the object has the form [scheme:]name[:port].
func proxyNode(w *write.Writer, q *rest.Request) error {
	_, name, _, ok := utilnet.SplitSchemeNamePort(q.ObjectName)
	if !ok {
		return errors.NewBadRequest(fmt.Sprintf("invalid node request %q", q.ObjectName))
	}
	address, err := addressOf(w, q, name)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(address); ip != nil && !ip.IsGlobalUnicast() {
		return errors.NewBadRequest("address not allowed")
	}
	return errors.NewServiceUnavailable("error trying to reach service: there is no kubelet")
}

// proxyService returns the reason why a port of a service cannot be reached. The name of the object has the form [scheme:]name[:port].
func proxyService(b *read.Reader, q *rest.Request) error {
	_, name, port, ok := utilnet.SplitSchemeNamePort(q.ObjectName)
	if !ok {
		return errors.NewBadRequest(fmt.Sprintf("invalid service request %q", q.ObjectName))
	}
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		of := *q
		of.ObjectName = name
		live, err := b.MustLoad(&of)
		if err != nil {
			return err
		}
		if !hasPort(live.Content, number) {
			return errors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, name))
		}
	}
	return errors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
}

// hasPort reports whether a service has a port of a number.
func hasPort(service value.Value, number int64) bool {
	for port := range service.Get("spec", "ports").Items() {
		if port.Get("port").Int() == number {
			return true
		}
	}
	return false
}
