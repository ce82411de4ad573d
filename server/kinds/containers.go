package kinds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// containers refuses containers of a pod: those that run until it ends.
func (w *podWalk) containers(p place) {
	if p.Len() == 0 {
		w.required(p, "")
		return
	}
	var hostPorts names
	for i := range p.indexes() {
		c := p.item(i)
		w.container(c)
		name := c.at("name")
		if !w.running.add(name.Str()) {
			w.duplicate(name)
		}
		w.lifecycle(c)
		w.containerRestarts(c)
	}
	for i := range p.indexes() {
		c := p.item(i)
		w.hostPorts(c.at("ports"), &hostPorts)
	}
}

// initContainers refuses containers that run first. Those that always restart run on, and may have what others have.
func (w *podWalk) initContainers(p place) {
	met := w.running
	for i := range p.indexes() {
		c := p.item(i)
		w.container(c)
		w.containerRestarts(c)
		if name := c.at("name"); name.Str() != "" && !met.add(name.Str()) {
			w.duplicate(name)
		}
		var hostPorts names
		w.hostPorts(c.at("ports"), &hostPorts)
		if c.text("restartPolicy") == "Always" {
			w.lifecycle(c)
			continue
		}
		for _, member := range [...]string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if m := c.at(member); m.is() {
				w.forbidden(m, "may not be set for init containers without restartPolicy=Always")
			}
		}
	}
}

// container refuses what holds for every container.
func (w *podWalk) container(c place) {
	if name := c.at("name"); w.present(name) {
		w.label(name)
	}
	w.present(c.at("image"))
	w.among(c.at("terminationMessagePolicy"), "File", "FallbackToLogsOnError")
	w.ports(c.at("ports"))
	w.env(c.at("env"))
	w.envFrom(c.at("envFrom"))
	w.mounts(c)
	w.among(c.at("imagePullPolicy"), "Always", "IfNotPresent", "Never")
	w.resources(c.at("resources"))
	w.containerSecurity(c.at("securityContext"))
}

// containerRestarts refuses how a container restarts.
func (w *podWalk) containerRestarts(c place) {
	if policy := c.at("restartPolicy"); policy.is() {
		w.onlyAmong(policy, "Always", "Never", "OnFailure")
	} else if c.Get("restartPolicyRules").Len() > 0 {
		w.required(policy, "must specify restartPolicy when restart rules are used")
	}
}

// ports refuses ports of a container.
func (w *podWalk) ports(p place) {
	var met names
	for i := range p.indexes() {
		port := p.item(i)
		if name := port.at("name"); name.Str() != "" {
			if wrong := validation.IsValidPortName(name.Str()); len(wrong) > 0 {
				w.invalid(name, wrong...)
			} else if !met.add(name.Str()) {
				w.duplicate(name)
			}
		}
		if number := port.at("containerPort"); number.Int() == 0 {
			w.required(number, "")
		} else {
			w.port(number)
		}
		if number := port.at("hostPort"); number.Int() != 0 {
			w.port(number)
		}
		w.among(port.at("protocol"), "SCTP", "TCP", "UDP")
	}
}

// hostPorts refuses ports of a node that were met before.
func (w *podWalk) hostPorts(p place, met *names) {
	for i := range p.indexes() {
		port := p.item(i)
		number := port.at("hostPort")
		if number.Int() == 0 {
			continue
		}
		text := fmt.Sprintf("%s/%s/%d", port.text("protocol"), port.text("hostIP"), number.Int())
		if !met.add(text) {
			w.add(field.Duplicate(number.path(), text))
		}
	}
}

// mounts refuses where a container has volumes.
func (w *podWalk) mounts(c place) {
	p := c.at("volumeMounts")
	var met names
	for i := range p.indexes() {
		m := p.item(i)
		name, at := m.at("name"), m.at("mountPath")
		w.present(name)
		if !w.volumes.has(name.Str()) {
			w.add(field.NotFound(name.path(), name.Str()))
		}
		w.present(at)
		if !met.add(at.Str()) {
			w.invalidAs(at, at.Str(), "must be unique")
		}
		w.descending(m.at("subPath"), p.at("subPath"))
		expression := m.at("subPathExpr")
		if expression.Str() != "" && m.text("subPath") != "" {
			w.invalid(expression, "subPathExpr and subPath are mutually exclusive")
		}
		w.descending(expression, p.at("subPathExpr"))
		w.propagation(m.at("mountPropagation"), p.at("mountPropagation"), c.Get("securityContext", "privileged").Bool())
	}
}

// descending refuses a path that leaves where it begins; it is told of another place.
func (w *podWalk) descending(p, told place) {
	if path.IsAbs(p.Str()) {
		w.invalidAs(told, p.Str(), "must be a relative path")
	}
	w.noBacksteps(p, told)
}

// noBacksteps refuses a path with a step back.
func (w *podWalk) noBacksteps(p, told place) {
	for step := range strings.SplitSeq(p.Str(), "/") {
		if step == ".." {
			w.invalidAs(told, p.Str(), "must not contain '..'")
			return
		}
	}
}

// propagation refuses how mounts are told to other namespaces; it is told of another place.
func (w *podWalk) propagation(p, told place, privileged bool) {
	if !p.is() {
		return
	}
	told.Value = p.Value
	w.onlyAmong(told, "Bidirectional", "HostToContainer", "None")
	if p.Str() == "Bidirectional" && !privileged {
		w.forbidden(told, "Bidirectional mount propagation is available only to privileged containers")
	}
}

// envSources are where the value of a variable may come from.
var envSources = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}

// env refuses variables of a container.
func (w *podWalk) env(p place) {
	for i := range p.indexes() {
		e := p.item(i)
		if name := e.at("name"); w.present(name) {
			w.invalid(name, validation.IsRelaxedEnvVarName(name.Str())...)
		}
		if from := e.at("valueFrom"); from.is() {
			w.valueFrom(from, e.text("value"))
		}
	}
}

// valueFrom refuses where the value of a variable comes from, beside one that is written there.
func (w *podWalk) valueFrom(p place, written string) {
	n := 0
	for _, name := range envSources {
		source := p.at(name)
		if !source.is() {
			continue
		}
		n++
		switch name {
		case "fieldRef":
			w.fieldRef(source)
		case "configMapKeyRef", "secretKeyRef":
			w.keyRef(source)
		}
	}
	switch {
	case n == 0:
		w.invalidAs(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case written != "":
		w.invalidAs(p, "", "may not be specified when `value` is not empty")
	case n > 1:
		w.invalidAs(p, "", "may not have more than one field specified at a time")
	}
}

// fieldRef refuses a reference to a field of the pod that no variable can have.
func (w *podWalk) fieldRef(p place) {
	at := p.at("fieldPath")
	if !w.present(p.at("apiVersion")) || !w.present(at) {
		return
	}
	name, rest, subscripted := strings.Cut(at.Str(), "['")
	key, closed := strings.CutSuffix(rest, "']")
	switch isMap := name == "metadata.labels" || name == "metadata.annotations"; {
	case p.text("apiVersion") != "v1":
		w.invalid(at, "error converting fieldPath: unsupported pod version: "+p.text("apiVersion"))
	case subscripted && closed && !isMap:
		w.invalid(at, "error converting fieldPath: field label does not support subscript: "+at.Str())
	case subscripted && closed:
		if name == "metadata.annotations" {
			key = strings.ToLower(key)
		}
		w.invalidAs(p, key, validation.IsQualifiedName(key)...)
	case slices.Contains(podFields, at.Str()) || at.Str() == "spec.host": // which is the node, by its name of before
	case isMap || slices.Contains(otherFields, at.Str()):
		w.onlyAmong(at, podFields...)
	default:
		w.invalid(at, "error converting fieldPath: field label not supported: "+at.Str())
	}
}

// Fields of pods: those that a variable may have the value of, and others that are known.
var (
	podFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
		"status.podIP", "status.podIPs",
	}
	otherFields = []string{"spec.restartPolicy", "spec.schedulerName", "status.phase"}
)

// keyRef refuses a reference to a key of another object.
func (w *podWalk) keyRef(p place) {
	name := p.at("name")
	w.invalidAs(name, name.Str(), validation.IsDNS1123Subdomain(name.Str())...)
	if key := p.at("key"); w.present(key) {
		w.invalid(key, validation.IsConfigMapKey(key.Str())...)
	}
}

// envFrom refuses objects whose keys are variables.
func (w *podWalk) envFrom(p place) {
	for i := range p.indexes() {
		e := p.item(i)
		if prefix := e.at("prefix"); prefix.Str() != "" {
			w.invalid(prefix, validation.IsRelaxedEnvVarName(prefix.Str())...)
		}
		n := 0
		for _, name := range [...]string{"configMapRef", "secretRef"} {
			source := e.at(name)
			if !source.is() {
				continue
			}
			n++
			if named := source.at("name"); w.present(named) {
				w.subdomain(named)
			}
		}
		switch n {
		case 0:
			w.invalidAs(p, "", "must specify one of: `configMapRef` or `secretRef`")
		case 2:
			w.invalidAs(p, "", "may not have more than one field specified at a time")
		}
	}
}

// lifecycle refuses how a container is watched, and what is done when it starts and ends.
func (w *podWalk) lifecycle(c place) {
	l := c.at("lifecycle")
	for _, name := range [...]string{"postStart", "preStop"} {
		if h := l.at(name); h.is() {
			w.handler(h)
		}
	}
	for _, name := range [...]string{"livenessProbe", "readinessProbe", "startupProbe"} {
		p := c.at(name)
		if !p.is() {
			continue
		}
		w.probe(p)
		if threshold := p.at("successThreshold"); name != "readinessProbe" && threshold.Int() != 1 {
			w.invalidAs(threshold, threshold.Int(), "must be 1")
		}
		if grace := p.at("terminationGracePeriodSeconds"); name == "readinessProbe" && grace.is() {
			w.invalid(grace, "must not be set for readinessProbes")
		}
	}
}

// probe refuses how it is found out whether a container works.
func (w *podWalk) probe(p place) {
	w.handler(p)
	for _, name := range [...]string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
		w.natural(p.at(name))
	}
	if grace := p.at("terminationGracePeriodSeconds"); grace.is() && grace.Int() <= 0 {
		w.invalid(grace, "must be greater than 0")
	}
}

// handler refuses an action that is none, or is several.
func (w *podWalk) handler(p place) {
	found := false
	for _, name := range [...]string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"} {
		action := p.at(name)
		if !action.is() {
			continue
		}
		if found {
			w.forbidden(action, "may not specify more than 1 handler type")
			continue
		}
		found = true
		w.action(action)
	}
	if !found {
		w.required(p, "must specify a handler type")
	}
}

// action refuses what is done by a handler.
func (w *podWalk) action(p place) {
	switch p.name() {
	case "exec":
		if command := p.at("command"); command.Len() == 0 {
			w.required(command, "")
		}
	case "httpGet":
		w.httpGet(p)
	case "tcpSocket", "grpc":
		w.portOrName(p.at("port"))
	case "sleep":
		seconds := p.Get("seconds").Int()
		if most := w.spec.Get("terminationGracePeriodSeconds"); isSet(most) && (seconds < 0 || seconds > most.Int()) {
			w.invalidAs(p, seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", most.Int()))
		}
	}
}

// httpGet refuses a request of a probe.
func (w *podWalk) httpGet(p place) {
	w.present(p.at("path"))
	w.portOrName(p.at("port"))
	w.onlyAmong(p.at("scheme"), "HTTP", "HTTPS")
	headers := p.at("httpHeaders")
	for h := range headers.Items() {
		name := h.Get("name").Str()
		w.invalidAs(headers, name, validation.IsHTTPHeaderName(name)...)
	}
	if protocol := p.at("protocol"); protocol.is() && protocol.Kind() == value.KindString {
		w.onlyAmong(protocol, "HTTP1", "HTTP2")
	}
}
