package wire

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
)

// optionsCodecs returns codecs for delete options in every media type, including CBOR.
var optionsCodecs = sync.OnceValue(func() serializer.CodecFactory {
	return serializer.NewCodecFactory(metainternal.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
})

// DecodeDeleteOptions reads the body of a delete. The error is a 400.
//
// The kind of the body is optional, and another kind is refused. media must be one of the types of BodyMedia.
func DecodeDeleteOptions(body []byte, media string) (*metav1.DeleteOptions, error) {
	info, _ := runtime.SerializerInfoForMediaType(optionsCodecs().SupportedMediaTypes(), media)
	gvk := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	options := &metav1.DeleteOptions{}
	decoder := optionsCodecs().DecoderToVersion(info.Serializer, gvk.GroupVersion())
	decoded, _, err := decoder.Decode(body, &gvk, options)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if decoded != runtime.Object(options) {
		return nil, errors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return options, nil
}
