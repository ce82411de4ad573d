package validation

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
