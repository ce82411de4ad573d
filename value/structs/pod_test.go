package structs

import (
	"encoding/json"
	"time"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// The types below have the shapes of Kubernetes' own: deep structs of mostly empty fields, pointers
// for what is optional, an inlined type header, and scalar types with methods of their own.

type pod struct {
	typeMeta   `json:",inline"`
	ObjectMeta objectMeta `json:"metadata,omitempty"`
	Spec       podSpec    `json:"spec,omitempty"`
	Status     podStatus  `json:"status,omitempty"`
}

type typeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

type objectMeta struct {
	Name                       string            `json:"name,omitempty"`
	GenerateName               string            `json:"generateName,omitempty"`
	Namespace                  string            `json:"namespace,omitempty"`
	SelfLink                   string            `json:"selfLink,omitempty"`
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          timestamp         `json:"creationTimestamp,omitempty,omitzero"`
	DeletionTimestamp          *timestamp        `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	OwnerReferences            []ownerReference  `json:"ownerReferences,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
}

type ownerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

type podSpec struct {
	Volumes                       []volume          `json:"volumes,omitempty"`
	InitContainers                []container       `json:"initContainers,omitempty"`
	Containers                    []container       `json:"containers"`
	RestartPolicy                 string            `json:"restartPolicy,omitempty"`
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds,omitempty"`
	ActiveDeadlineSeconds         *int64            `json:"activeDeadlineSeconds,omitempty"`
	DNSPolicy                     string            `json:"dnsPolicy,omitempty"`
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`
	ServiceAccountName            string            `json:"serviceAccountName,omitempty"`
	NodeName                      string            `json:"nodeName,omitempty"`
	HostNetwork                   bool              `json:"hostNetwork,omitempty"`
	SecurityContext               *securityContext  `json:"securityContext,omitempty"`
	SchedulerName                 string            `json:"schedulerName,omitempty"`
	Tolerations                   []toleration      `json:"tolerations,omitempty"`
	Priority                      *int32            `json:"priority,omitempty"`
	EnableServiceLinks            *bool             `json:"enableServiceLinks,omitempty"`
}

type securityContext struct {
	RunAsUser    *int64 `json:"runAsUser,omitempty"`
	RunAsNonRoot *bool  `json:"runAsNonRoot,omitempty"`
}

type toleration struct {
	Key               string `json:"key,omitempty"`
	Operator          string `json:"operator,omitempty"`
	Value             string `json:"value,omitempty"`
	Effect            string `json:"effect,omitempty"`
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

type volume struct {
	Name         string `json:"name"`
	volumeSource `json:",inline"`
}

type volumeSource struct {
	ConfigMap *configMapSource `json:"configMap,omitempty"`
	Projected *projectedSource `json:"projected,omitempty"`
}

type configMapSource struct {
	Name        string `json:"name,omitempty"`
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

type projectedSource struct {
	Sources     []projection `json:"sources"`
	DefaultMode *int32       `json:"defaultMode,omitempty"`
}

type projection struct {
	ServiceAccountToken *tokenProjection `json:"serviceAccountToken,omitempty"`
}

type tokenProjection struct {
	Audience          string `json:"audience,omitempty"`
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`
	Path              string `json:"path"`
}

type container struct {
	Name                   string        `json:"name"`
	Image                  string        `json:"image,omitempty"`
	Command                []string      `json:"command,omitempty"`
	Args                   []string      `json:"args,omitempty"`
	WorkingDir             string        `json:"workingDir,omitempty"`
	Ports                  []port        `json:"ports,omitempty"`
	Env                    []envVar      `json:"env,omitempty"`
	Resources              resources     `json:"resources,omitempty"`
	VolumeMounts           []volumeMount `json:"volumeMounts,omitempty"`
	LivenessProbe          *probe        `json:"livenessProbe,omitempty"`
	ReadinessProbe         *probe        `json:"readinessProbe,omitempty"`
	TerminationMessagePath string        `json:"terminationMessagePath,omitempty"`
	ImagePullPolicy        string        `json:"imagePullPolicy,omitempty"`
	Stdin                  bool          `json:"stdin,omitempty"`
	TTY                    bool          `json:"tty,omitempty"`
}

type port struct {
	Name          string `json:"name,omitempty"`
	HostPort      int32  `json:"hostPort,omitempty"`
	ContainerPort int32  `json:"containerPort"`
	Protocol      string `json:"protocol,omitempty"`
}

type envVar struct {
	Name      string        `json:"name"`
	Value     string        `json:"value,omitempty"`
	ValueFrom *envVarSource `json:"valueFrom,omitempty"`
}

type envVarSource struct {
	FieldRef *fieldRef `json:"fieldRef,omitempty"`
}

type fieldRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	FieldPath  string `json:"fieldPath"`
}

type resources struct {
	Limits   map[string]quantity `json:"limits,omitempty"`
	Requests map[string]quantity `json:"requests,omitempty"`
}

type volumeMount struct {
	Name      string `json:"name"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	MountPath string `json:"mountPath"`
	SubPath   string `json:"subPath,omitempty"`
}

type probe struct {
	HTTPGet             *httpGet `json:"httpGet,omitempty"`
	InitialDelaySeconds int32    `json:"initialDelaySeconds,omitempty"`
	TimeoutSeconds      int32    `json:"timeoutSeconds,omitempty"`
	PeriodSeconds       int32    `json:"periodSeconds,omitempty"`
	SuccessThreshold    int32    `json:"successThreshold,omitempty"`
	FailureThreshold    int32    `json:"failureThreshold,omitempty"`
}

type httpGet struct {
	Path   string      `json:"path,omitempty"`
	Port   intOrString `json:"port"`
	Host   string      `json:"host,omitempty"`
	Scheme string      `json:"scheme,omitempty"`
}

type podStatus struct {
	Phase      string         `json:"phase,omitempty"`
	Conditions []podCondition `json:"conditions,omitempty"`
	HostIP     string         `json:"hostIP,omitempty"`
	PodIP      string         `json:"podIP,omitempty"`
	StartTime  *timestamp     `json:"startTime,omitempty"`
	QOSClass   string         `json:"qosClass,omitempty"`
}

type podCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	LastProbeTime      timestamp `json:"lastProbeTime,omitempty"`
	LastTransitionTime timestamp `json:"lastTransitionTime,omitempty"`
	Reason             string    `json:"reason,omitempty"`
}

// timestamp prints null when it is zero, and has ToUnstructured on its pointer, as metav1.Time
// does.
type timestamp struct{ time.Time }

func (t timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(nil, `"`+time.RFC3339+`"`), nil
}

func (t *timestamp) ToUnstructured() any {
	if t == nil || t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func (t *timestamp) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		t.Time = time.Time{}
		return nil
	}
	parsed, err := time.Parse(`"`+time.RFC3339+`"`, string(text))
	t.Time = parsed.Local()
	return err
}

// quantity has its methods as resource.Quantity has them.
type quantity struct{ text string }

func (q quantity) MarshalJSON() ([]byte, error) {
	return jsontext.AppendString(nil, q.text, jsontext.Standard), nil
}

func (q quantity) ToUnstructured() any { return q.text }

func (q *quantity) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &q.text)
}

// intOrString is a number or a string, as intstr.IntOrString.
type intOrString struct {
	number int32
	text   string
}

func (i intOrString) MarshalJSON() ([]byte, error) {
	if i.text != "" {
		return jsontext.AppendString(nil, i.text, jsontext.Standard), nil
	}
	return value.Int(int64(i.number)).AppendJSON(nil), nil
}

func (i *intOrString) UnmarshalJSON(text []byte) error {
	v, err := value.Parse(text)
	*i = intOrString{number: int32(v.Int()), text: v.Str()}
	return err
}
