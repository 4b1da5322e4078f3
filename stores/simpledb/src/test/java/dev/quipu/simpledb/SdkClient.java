package dev.quipu.simpledb;

import com.amazonaws.AmazonServiceException;
import com.amazonaws.ClientConfiguration;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.simpledb.AmazonSimpleDB;
import com.amazonaws.services.simpledb.AmazonSimpleDBClient;
import com.amazonaws.services.simpledb.AmazonSimpleDBClientBuilder;
import com.amazonaws.services.simpledb.model.BatchDeleteAttributesRequest;
import com.amazonaws.services.simpledb.model.BatchPutAttributesRequest;
import com.amazonaws.services.simpledb.model.CreateDomainRequest;
import com.amazonaws.services.simpledb.model.DeleteAttributesRequest;
import com.amazonaws.services.simpledb.model.DeleteDomainRequest;
import com.amazonaws.services.simpledb.model.DomainMetadataRequest;
import com.amazonaws.services.simpledb.model.GetAttributesRequest;
import com.amazonaws.services.simpledb.model.ListDomainsRequest;
import com.amazonaws.services.simpledb.model.PutAttributesRequest;
import com.amazonaws.services.simpledb.model.SelectRequest;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The AWS SDK for Java, version 1, the last with SimpleDB. */
final class SdkClient implements ForeignClient {
  static {
    System.setProperty("aws.java.v1.disableDeprecationAnnouncement", "true");
  }

  /** Its methods have the names of the model, with a lower-case first letter. */
  private static final JsonMapper MODEL =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
          .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
          .disable(MapperFeature.REQUIRE_SETTERS_FOR_GETTERS)
          .build();

  private static final List<String> FIELDS =
      List.of("Attributes", "Items", "DomainNames", "NextToken", "ItemCount");

  private final AmazonSimpleDB client;

  SdkClient(String endpoint, String key, String secret) {
    this.client =
        AmazonSimpleDBClientBuilder.standard()
            .withEndpointConfiguration(new EndpointConfiguration(endpoint, "us-east-1"))
            .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials(key, secret)))
            .withClientConfiguration(new ClientConfiguration().withMaxErrorRetry(0))
            .build();
  }

  @Override
  public JsonNode call(String action, JsonNode parameters) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      JsonNode whole = MODEL.valueToTree(send(action, parameters));
      ObjectNode result = answer.putObject("result");
      for (String field : FIELDS) {
        if (whole.hasNonNull(field)) {
          result.set(field, whole.get(field));
        }
      }
    } catch (AmazonServiceException e) {
      answer.put("code", e.getErrorCode()).put("status", e.getStatusCode());
    }
    return answer;
  }

  private Object send(String action, JsonNode json) {
    return switch (action) {
      case "CreateDomain" -> client.createDomain(as(json, CreateDomainRequest.class));
      case "DeleteDomain" -> client.deleteDomain(as(json, DeleteDomainRequest.class));
      case "ListDomains" -> client.listDomains(as(json, ListDomainsRequest.class));
      case "DomainMetadata" -> client.domainMetadata(as(json, DomainMetadataRequest.class));
      case "PutAttributes" -> client.putAttributes(as(json, PutAttributesRequest.class));
      case "BatchPutAttributes" ->
          client.batchPutAttributes(as(json, BatchPutAttributesRequest.class));
      case "DeleteAttributes" -> client.deleteAttributes(as(json, DeleteAttributesRequest.class));
      case "BatchDeleteAttributes" ->
          client.batchDeleteAttributes(as(json, BatchDeleteAttributesRequest.class));
      case "GetAttributes" -> client.getAttributes(as(json, GetAttributesRequest.class));
      case "Select" -> client.select(as(json, SelectRequest.class));
      default -> throw new IllegalArgumentException(action);
    };
  }

  private static <T> T as(JsonNode json, Class<T> type) {
    return MODEL.convertValue(json, type);
  }

  @Override
  public void close() {
    ((AmazonSimpleDBClient) client).shutdown();
  }
}
