package kinds

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
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

// initContainers validates containers that run first. Those that always restart run on, and may have what others have.
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
		w.hostPorts(p.hostPortsOf(i), &hostPorts)
		if c.text("restartPolicy") == "Always" {
			w.lifecycle(c)
			continue
		}
		w.noMembers(c, "may not be set for init containers without restartPolicy=Always", "lifecycle", "livenessProbe", "readinessProbe",
			"startupProbe")
		policies := c.at("resizePolicy")
		for i := range policies.indexes() {
			policy := policies.item(i)
			if restart := policy.at("restartPolicy"); restart.Str() == "RestartContainer" {
				w.invalid(restart, "must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
	w.running = met
}

// hostPortsOf returns the ports of the container number i. Errors about init containers have the index 0.
func (p place) hostPortsOf(i int) place {
	first := p.below(p.Item(i), "", 0)
	return first.at("ports")
}

// ephemeralContainers validates containers that are added to a pod that runs.
func (w *podWalk) ephemeralContainers(p place) {
	var others, met names
	for _, list := range [...]string{"containers", "initContainers"} {
		for c := range w.spec.Get(list).Items() {
			others.add(c.Get("name").Str())
			met.add(c.Get("name").Str())
		}
	}
	for i := range p.indexes() {
		c := p.item(i)
		w.container(c)
		w.trimmedImage(c)
		if name := c.at("name"); !met.add(name.Str()) {
			w.duplicate(name)
		}
		if target := c.at("targetContainerName"); target.Str() != "" && !others.has(target.Str()) {
			w.add(field.NotFound(target.path(), target.Str()))
		}
		const why = "cannot be set for an Ephemeral Container"
		for _, name := range [...]string{
			"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe",
			"lifecycle",
		} {
			if m := c.at(name); m.is() && !(name == "resources" && m.Len() == 0) {
				w.forbidden(m, why)
			}
		}
		mounts := c.at("volumeMounts")
		for i := range mounts.indexes() {
			mount := mounts.item(i)
			for _, name := range [...]string{"subPath", "subPathExpr"} {
				if at := mount.at(name); at.Str() != "" {
					w.forbidden(at, why)
				}
			}
		}
	}
}

// container validates what holds for every container.
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
	w.volumeDevices(c)
	w.among(c.at("imagePullPolicy"), "Always", "IfNotPresent", "Never")
	w.resources(c.at("resources"))
	w.resizePolicy(c.at("resizePolicy"))
	w.containerSecurity(c.at("securityContext"))
}

// resizePolicy validates what is done when resources of a container change. Errors are about the list.
func (w *podWalk) resizePolicy(p place) {
	var met names
	for i := range p.indexes() {
		policy := p.item(i)
		name, restart := policy.at("resourceName"), policy.at("restartPolicy")
		if !met.add(name.Str()) {
			w.add(field.Duplicate(policy.path(), Enumeration(name.Str())))
		}
		w.among(p.with(name.Value), "cpu", "memory")
		w.among(p.with(restart.Value), "NotRequired", "RestartContainer")
		if w.spec.text("restartPolicy") == "Never" && restart.Str() != "NotRequired" {
			w.invalidAs(p, restart.Str(), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

// containerRestarts validates when a container restarts.
func (w *podWalk) containerRestarts(c place) {
	policy, rules := c.at("restartPolicy"), c.at("restartPolicyRules")
	if policy.is() {
		w.onlyAmong(policy, "Always", "Never", "OnFailure")
	} else if rules.Len() > 0 {
		w.required(policy, "must specify restartPolicy when restart rules are used")
		if strings.HasPrefix(c.path().String(), "initC") || strings.Contains(c.path().String(), ".initContainers[") {
			return // whose rules are ignored then
		}
	}
	if rules.Len() > 20 {
		w.add(field.TooMany(rules.path(), rules.Len(), 20))
	}
	for i := range rules.indexes() {
		rule := rules.item(i)
		if actions := []string{"Restart", "RestartAllContainers"}; w.before(36) {
			w.onlyAmong(rule.at("action"), actions[:1]...)
		} else {
			w.onlyAmong(rule.at("action"), actions...)
		}
		codes := rule.at("exitCodes")
		if !codes.is() {
			w.required(codes, "must be specified")
			continue
		}
		w.onlyAmong(codes.at("operator"), "In", "NotIn")
		if values := codes.at("values"); values.Len() > 255 {
			w.add(field.TooMany(values.path(), values.Len(), 255))
		}
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

// mounts validates where a container has volumes.
func (w *podWalk) mounts(c place) {
	p := c.at("volumeMounts")
	var met, devices, paths names
	for d := range c.Get("volumeDevices").Items() {
		devices.add(d.Get("name").Str())
		paths.add(d.Get("devicePath").Str())
	}
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
		if devices.has(name.Str()) {
			w.invalidAs(name, name.Str(), "must not already exist in volumeDevices")
		}
		if paths.has(at.Str()) {
			w.invalidAs(at, at.Str(), "must not already exist as a path in volumeDevices")
		}
		w.descending(m.at("subPath"), p.at("subPath"))
		expression := m.at("subPathExpr")
		if expression.Str() != "" && m.text("subPath") != "" {
			w.invalid(expression, "subPathExpr and subPath are mutually exclusive")
		}
		w.descending(expression, p.at("subPathExpr"))
		w.propagation(m.at("mountPropagation"), p.at("mountPropagation"), c.Get("securityContext", "privileged").Bool())
		w.recursiveReadOnly(m, p.at("recursiveReadOnly"))
	}
}

// recursiveReadOnly validates whether mounts below a mount can be read only; the error is about another place.
func (w *podWalk) recursiveReadOnly(m, told place) {
	mode, propagation := m.Get("recursiveReadOnly"), m.Get("mountPropagation")
	switch told = told.with(mode); mode.Str() {
	case "Enabled", "IfPossible":
		if !m.Get("readOnly").Bool() {
			w.forbidden(told, "may only be specified when readOnly is true")
		}
		if isSet(propagation) && propagation.Str() != "None" {
			w.forbidden(told, "may only be specified when mountPropagation is None or not specified")
		}
	case "Disabled":
	default:
		if isSet(mode) {
			w.onlyAmong(told, "Disabled", "Enabled", "IfPossible")
		}
	}
}

// volumeDevices validates which volumes a container has as devices.
func (w *podWalk) volumeDevices(c place) {
	p := c.at("volumeDevices")
	var met, paths, mounted, mountedAt names
	for m := range c.Get("volumeMounts").Items() {
		mounted.add(m.Get("name").Str())
		mountedAt.add(m.Get("mountPath").Str())
	}
	for i := range p.indexes() {
		d := p.item(i)
		name, at := d.at("name"), d.at("devicePath")
		w.present(name)
		if met.has(name.Str()) {
			w.invalidAs(name, name.Str(), "must be unique")
		}
		if !w.volumes.has(name.Str()) {
			w.add(field.NotFound(name.path(), name.Str()))
		} else if !w.devices.has(name.Str()) {
			w.invalidAs(name, name.Str(), "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		w.present(at)
		if paths.has(at.Str()) {
			w.invalidAs(at, at.Str(), "must be unique")
		}
		if slices.Contains(strings.Split(at.Str(), "/"), "..") {
			w.invalidAs(at, at.Str(), "can not contain backsteps ('..')")
		} else {
			paths.add(at.Str())
		}
		if mounted.has(name.Str()) {
			w.invalidAs(name, name.Str(), "must not already exist in volumeMounts")
		}
		if mountedAt.has(at.Str()) {
			w.invalidAs(at, at.Str(), "must not already exist as a path in volumeMounts")
		}
		if name.Str() != "" {
			met.add(name.Str())
		}
	}
}

// descending refuses a path that leaves where it begins; it is told of another place.
func (r *report) descending(p, told place) {
	if path.IsAbs(p.Str()) {
		r.invalidAs(told, p.Str(), "must be a relative path")
	}
	r.noBacksteps(p, told)
}

// noBacksteps refuses a path with a step back.
func (r *report) noBacksteps(p, told place) {
	for step := range strings.SplitSeq(p.Str(), "/") {
		if step == ".." {
			r.invalidAs(told, p.Str(), "must not contain '..'")
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
			w.fieldRef(source, podFields)
		case "resourceFieldRef":
			w.resourceRef(source, false)
		case "fileKeyRef":
			w.fileRef(source)
		case "configMapKeyRef", "secretKeyRef":
			w.keyRef(source)
		}
	}
	switch {
	case n == 0:
		last := ", `secretKeyRef` or `fileKeyRef`"
		if w.before(35) {
			last = " or `secretKeyRef`"
		}
		w.invalidAs(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"+last)
	case written != "":
		w.invalidAs(p, "", "may not be specified when `value` is not empty")
	case n > 1:
		w.invalidAs(p, "", "may not have more than one field specified at a time")
	}
}

// fieldRef validates a reference to one of some fields of the pod.
func (r *report) fieldRef(p place, fields []string) {
	at := p.at("fieldPath")
	if !r.present(p.at("apiVersion")) || !r.present(at) {
		return
	}
	name, rest, subscripted := strings.Cut(at.Str(), "['")
	key, closed := strings.CutSuffix(rest, "']")
	switch isMap := name == "metadata.labels" || name == "metadata.annotations"; {
	case p.text("apiVersion") != "v1":
		r.invalid(at, "error converting fieldPath: unsupported pod version: "+p.text("apiVersion"))
	case subscripted && closed && !isMap:
		r.invalid(at, "error converting fieldPath: field label does not support subscript: "+at.Str())
	case subscripted && closed:
		if name == "metadata.annotations" {
			key = strings.ToLower(key)
		}
		r.invalidAs(p, key, validation.IsQualifiedName(key)...)
	case at.Str() == "spec.host": // which is the node, by its name of before
		if !slices.Contains(fields, "spec.nodeName") {
			r.notOneOf(at.with(value.String("spec.nodeName")), fields...)
		}
	case slices.Contains(fields, at.Str()):
	case slices.Contains(podFields, at.Str()) || slices.Contains(volumeFields, at.Str()) || slices.Contains(otherFields, at.Str()):
		r.notOneOf(at, fields...)
	default:
		r.invalid(at, "error converting fieldPath: field label not supported: "+at.Str())
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

// Resources of containers that variables and files may have, and the units in which they are.
var (
	resourceFields = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
	byteUnits = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// resourceRef validates a reference to a resource of a container, which a file has to name.
func (r *report) resourceRef(p place, named bool) {
	container, resource := p.at("containerName"), p.at("resource")
	_, of, _ := strings.Cut(resource.Str(), ".")
	pages := strings.HasPrefix(resource.Str(), "limits."+hugePages) || strings.HasPrefix(resource.Str(), "requests."+hugePages)
	switch {
	case named && container.Str() == "":
		r.required(container, "")
	case resource.Str() == "":
		r.required(resource, "")
	case !slices.Contains(resourceFields, resource.Str()) && !pages:
		r.notOneOf(resource, resourceFields...)
	}
	divisor := p.at("divisor")
	if q := quantity(divisor.Value); q.IsZero() {
		return
	}
	const units = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the "
	inBytes := slices.Contains(byteUnits, divisor.Str())
	switch known := slices.Contains(resourceFields, resource.Str()); {
	case known && of == "cpu":
		if text := divisor.Str(); text != "1" && text != "1m" {
			r.invalidAs(divisor, resource.Str(), "only divisor's values 1m and 1 are supported with the cpu resource")
		}
	case inBytes:
	case known && of == "memory":
		r.invalidAs(divisor, resource.Str(), units+"memory resource")
	case known:
		r.invalidAs(divisor, resource.Str(), units+"local ephemeral storage resource")
	case pages:
		r.invalidAs(divisor, resource.Str(), units+"hugepages resource")
	}
}

// fileRef validates a reference to a variable in a file.
func (w *podWalk) fileRef(p place) {
	if key := p.at("key"); w.present(key) {
		w.invalid(key, validation.IsRelaxedEnvVarName(key.Str())...)
	}
	if name := p.at("volumeName"); w.present(name) {
		w.label(name)
	}
	if at := p.at("path"); w.present(at) {
		w.noBacksteps(at, at)
	}
}

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
				w.invalidAs(named, named.Str(), apivalidation.NameIsDNSSubdomain(named.Str(), true)...) // as a prefix of names
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
	if signal := l.at("stopSignal"); signal.is() {
		w.stopSignal(signal)
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

// stopSignal validates the signal that ends a container.
func (w *podWalk) stopSignal(p place) {
	switch system := w.spec.Get("os"); {
	case !isSet(system):
		w.forbidden(p, "may not be set for containers with empty `spec.os.name`")
	case system.Get("name").Str() == "windows":
		w.onlyAmong(p, "SIGKILL", "SIGTERM")
	case system.Get("name").Str() == "linux":
		w.onlyAmong(p, signals()...)
	}
}

// signals returns the signals of Linux, sorted.
var signals = sync.OnceValue(func() []string {
	out := strings.Fields("SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL " +
		"SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM " +
		"SIGWINCH SIGXCPU SIGXFSZ SIGRTMIN SIGRTMAX")
	for i := 1; i <= 15; i++ {
		out = append(out, fmt.Sprintf("SIGRTMIN+%d", i))
	}
	for i := 1; i <= 14; i++ {
		out = append(out, fmt.Sprintf("SIGRTMAX-%d", i))
	}
	slices.Sort(out)
	return out
})

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
}
