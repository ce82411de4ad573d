package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

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
