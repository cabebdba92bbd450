// Graphs, made by capturing streams.
#include <algorithm>

#include "api/call.h"

using namespace flashpath::runtime;

namespace {

// A node's handle is its address in the graph, which no longer changes.
cudaGraphNodeType type_of(const GraphNode& node) {
  const std::string_view kind = node.operation.kind;
  if (kind == "kernel") return cudaGraphNodeTypeKernel;
  if (kind == "copy") return cudaGraphNodeTypeMemcpy;
  if (kind == "fill") return cudaGraphNodeTypeMemset;
  if (kind == "host function") return cudaGraphNodeTypeHost;
  return cudaGraphNodeTypeEmpty;
}

// As the API gives lists: their length, and as many as there is room for.
void give(const std::vector<GraphNode*>& nodes, cudaGraphNode_t* to, size_t* count) {
  required(count, "numNodes");
  if (to != nullptr) {
    const std::size_t given = std::min(*count, nodes.size());
    for (std::size_t k = 0; k < given; ++k) to[k] = reinterpret_cast<cudaGraphNode_t>(nodes[k]);
    for (std::size_t k = given; k < *count; ++k) to[k] = nullptr;
  }
  *count = nodes.size();
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", [&](Runtime& runtime) {
    runtime.begin_capture(runtime.stream(stream), mode);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", [&](Runtime& runtime) {
    required(graph, "pGraph") = nullptr;
    *graph = runtime.graphs().add(runtime.end_capture(runtime.stream(stream)));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", [&](Runtime& runtime) {
    const Stream& asked = runtime.stream(stream);
    required(status, "pCaptureStatus") = asked.capture == nullptr ? cudaStreamCaptureStatusNone
                                                   : asked.capture->is_broken ? cudaStreamCaptureStatusInvalidated
                                                                              : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  const cudaError_t error = cudaStreamIsCapturing(stream, status);
  if (error != cudaSuccess) return error;
  return call("cudaStreamGetCaptureInfo", [&](Runtime& runtime) {
    const Stream& asked = runtime.stream(stream);
    if (graph != nullptr || nodes != nullptr || edges != nullptr || count != nullptr) {
      throw ApiError{cudaErrorNotSupported, "vgpu.graph-being-captured"};
    }
    if (id != nullptr && asked.capture != nullptr) *id = asked.capture->id;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", [&](Runtime&) {
    std::swap(required(mode, "mode"), capture_mode_of_thread());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", [&](Runtime& runtime) {
    required(exec, "pGraphExec");
    *exec = runtime.instances().add(runtime.instantiate(runtime.graph(graph)));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", [&](Runtime& runtime) {
    runtime.refuse_in_capture(runtime.stream(stream), "vgpu.graphs-in-graphs");
    runtime.launch(runtime.graph(exec), runtime.stream(stream));
    return cudaSuccess;
  });
}

// What would be sent to a GPU ahead of the launch is here already.
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphUpload", [&](Runtime& runtime) {
    runtime.graph(exec);
    runtime.stream(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  return call("cudaGraphExecUpdate", [&](Runtime& runtime) {
    Graph& old = runtime.graph(exec);
    const Graph& fresh = runtime.graph(graph);
    const auto fits = [](const GraphNode& a, const GraphNode& b) {
      return type_of(a) == type_of(b) && a.after == b.after;
    };
    const bool is_same_shape =
        std::equal(old.nodes.begin(), old.nodes.end(), fresh.nodes.begin(), fresh.nodes.end(), fits);
    if (result != nullptr) {
      *result = {};
      result->result = is_same_shape ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!is_same_shape) {
      throw ApiError{cudaErrorGraphExecUpdateFailure, "vgpu.graph-nodes-differ"};
    }
    for (std::size_t k = 0; k < old.nodes.size(); ++k) {
      const std::uint64_t chain = old.nodes[k].operation.chain;
      old.nodes[k] = fresh.nodes[k];
      old.nodes[k].operation.chain = chain;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call("cudaGraphClone", [&](Runtime& runtime) {
    required(clone, "pGraphClone") = runtime.graphs().add(runtime.graph(graph));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call("cudaGraphGetNodes", [&](Runtime& runtime) {
    std::vector<GraphNode*> all;
    for (GraphNode& each : runtime.graph(graph).nodes) all.push_back(&each);
    give(all, nodes, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call("cudaGraphGetRootNodes", [&](Runtime& runtime) {
    std::vector<GraphNode*> roots;
    for (GraphNode& each : runtime.graph(graph).nodes) {
      if (each.after.empty()) roots.push_back(&each);
    }
    give(roots, nodes, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call("cudaGraphNodeGetType", [&](Runtime& runtime) {
    required(type, "pType") = type_of(runtime.node(node));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", [&](Runtime& runtime) {
    runtime.instances().remove(runtime.graph(exec));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", [&](Runtime& runtime) {
    runtime.graphs().remove(runtime.graph(graph));
    return cudaSuccess;
  });
}

}  // extern "C"
