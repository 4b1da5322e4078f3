package dev.quipu.appengine;

import com.google.appengine.api.datastore.DatastoreService;
import com.google.appengine.api.datastore.DatastoreServiceFactory;
import com.google.appengine.tools.development.testing.LocalDatastoreServiceTestConfig;
import com.google.appengine.tools.development.testing.LocalServiceTestHelper;
import com.google.apphosting.api.ApiProxy;
import org.jspecify.annotations.Nullable;

/**
 * Google's stubs of App Engine, in this process: a datastore whose queries across entity groups
 * miss half of the commits until the entities are read.
 */
final class Stubs {
  private static final float UNAPPLIED_PERCENT = 50;

  private static final LocalServiceTestHelper HELPER =
      new LocalServiceTestHelper(
          new LocalDatastoreServiceTestConfig()
              .setDefaultHighRepJobPolicyUnappliedJobPercentage(UNAPPLIED_PERCENT));

  private static ApiProxy.@Nullable Environment environment;

  private Stubs() {}

  /** Replaces the datastore by an empty one. */
  static DatastoreService startAnew() {
    startCalls();
    return datastore();
  }

  /** Returns the current datastore. */
  static DatastoreService datastore() {
    return DatastoreServiceFactory.getDatastoreService();
  }

  /** Replaces the datastore by an empty one; returns its calls. */
  @SuppressWarnings("unchecked") // the only type of delegate
  static OneAtATime startCalls() {
    if (environment == null) {
      ApiProxy.setEnvironmentFactory(() -> environment); // for all threads of a test
    } else {
      HELPER.tearDown();
    }
    HELPER.setUp();
    environment = ApiProxy.getCurrentEnvironment();
    OneAtATime calls = new OneAtATime(ApiProxy.getDelegate());
    ApiProxy.setDelegate(calls);
    return calls;
  }
}
